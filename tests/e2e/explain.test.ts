import { ScriptedWorker, type ScriptedWorkerOptions } from '@windlass/testkit/scripted-worker'
import { startSystem, TOLERANT_HEARTBEATS } from '@windlass/testkit/system'
import { expect, onTestFinished, test } from 'vitest'
import { client } from './api.ts'

const SOURCE = `
from windlass import ExecutionContext, workflow


@workflow.with_options(affinity={"zone": "eu"})
async def far(context: ExecutionContext):
    return "done"
`

test('explain of queued work: names the worker that would match', async () => {
  const system = await startSystem({ singleProcess: true, env: TOLERANT_HEARTBEATS })
  const api = client(system.url)
  await api.upload(SOURCE)
  const { execution_id } = await api.run('far', 'async')
  const [{ name }] = await api.json('GET', '/workers')
  const why = () => api.json('GET', `/executions/${execution_id}/explain`)
  expect(await why()).toMatchObject({
    state: 'SCHEDULED',
    reason: 'the one connected worker cannot run it',
    queue_position: 1,
    requirement: { affinity: { zone: 'eu' }, cpu: null },
    workers: [{ name, status: 'online', eligible: false, unmet: "label 'zone' = 'eu'" }],
    suggestion: `a worker with label 'zone' = 'eu', else like '${name}'`,
  })
  await api.json('GET', `/workflows/default/far/cancel/${execution_id}`)
  expect(await why()).toMatchObject({
    reason: 'it has ended: CANCELLED',
    queue_position: null,
    suggestion: null,
  })
})

const NEEDS = `
from windlass import ExecutionContext, ResourceRequest, workflow


@workflow.with_options(
    affinity={"zone": "eu"}, requests=ResourceRequest(cpu=4, memory="8Gi", packages=["numpy>=2"])
)
async def picky(context: ExecutionContext):
    return "done"
`

test('explain with a fleet: first mismatch of each worker, the smallest change, the queue position', async () => {
  const system = await startSystem({
    workers: 0,
    replicas: { dispatcher: 2 },
    env: TOLERANT_HEARTBEATS,
  })
  const api = client(system.url)
  await api.upload(NEEDS)
  const bootstrap = await system.bootstrapToken()
  const join = async (name: string, fit: Partial<ScriptedWorkerOptions>) => {
    const worker = new ScriptedWorker({ url: system.url, bootstrap, name, ...fit })
    onTestFinished(() => worker.close())
    return worker.start()
  }
  const packages = [{ name: 'NumPy', version: '2.1' }]
  await join('elsewhere', { labels: { zone: 'us' }, packages })
  await join('bare', { labels: { zone: 'eu' } })
  const { execution_id: first } = await api.run('picky', 'async')
  const why = (id: string) => api.json('GET', `/executions/${id}/explain`)
  const unmet = async (id: string) =>
    Object.fromEntries(
      (await why(id)).workers.map(({ name, unmet }: { name: string; unmet: string | null }) => [
        name,
        unmet,
      ]),
    )
  expect(await unmet(first)).toEqual({
    bare: "package 'numpy>=2'",
    elsewhere: "label 'zone' = 'eu'",
  })
  expect((await why(first)).suggestion).toBe("a worker with package 'numpy>=2', else like 'bare'")

  const able = await join('able', { labels: { zone: 'eu' }, packages, capacity: 1 })
  await able.awaitAndClaim(first)
  const waiting: string[] = []
  for (let i = 0; i < 3; i++) waiting.push((await api.run('picky', 'async')).execution_id)
  for (const [i, id] of waiting.entries()) {
    const explanation = await why(id)
    expect(explanation.queue_position).toBe(i + 1)
    expect(explanation.reason).toContain(`number ${i + 1} in the queue`)
    expect(explanation.suggestion).toContain(`${i + 1} more free slot`)
    expect((await unmet(id)).able).toBe('a free slot: it holds 1 of 1')
  }
  able.isHealthy = false
  await expect.poll(async () => (await unmet(waiting[0] ?? '')).able).toBe('good health')
  able.close()
  await expect.poll(async () => (await unmet(waiting[0] ?? '')).able).toBe('a connection')
  expect((await why(waiting[0] ?? '')).suggestion).toBe("'able' to connect again")
})
