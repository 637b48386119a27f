import { call } from '@windlass/testkit/http'
import { ScriptedWorker } from '@windlass/testkit/scripted-worker'
import { startSystem, TOLERANT_HEARTBEATS } from '@windlass/testkit/system'
import { expect, onTestFinished, test } from 'vitest'
import { client } from './api.ts'

const SOURCE = `
from windlass import ExecutionContext, workflow
from windlass.routing import input, label, least, load, prefer, score

nearby = score(prefer(label("zone") == input("customer.zone"), weight=10), least(load))

@workflow.with_options(routing=nearby)
async def routed(ctx: ExecutionContext):
    return ctx.input

@workflow
async def plain(ctx: ExecutionContext):
    return ctx.input
`

test('choice of worker: routing policy, else preferred worker (both headers), else most free slots', async () => {
  const system = await startSystem({ singleProcess: true, workers: 0, env: TOLERANT_HEARTBEATS })
  const api = client(system.url)
  await api.upload(SOURCE)
  const bootstrap = await system.bootstrapToken()
  const [eu, us] = await Promise.all(
    ['eu', 'us'].map((zone) => {
      const worker = new ScriptedWorker({
        url: system.url,
        bootstrap,
        name: `in-${zone}`,
        labels: { zone },
      })
      onTestFinished(() => worker.close())
      return worker.start()
    }),
  )
  if (!eu || !us) expect.unreachable()
  const run = async (name: string, input: unknown, headers = {}) => {
    const url = `${system.url}/workflows/default/${name}/run/async`
    const { json } = await call('POST', url, { body: JSON.stringify(input), headers })
    return json.execution_id as string
  }
  const holds = async (worker: ScriptedWorker, id: string) => {
    await worker.nextFrame('execution_scheduled', id)
  }
  // The policy evaluates the input and ranks before the load.
  for (let i = 0; i < 5; i++) await holds(us, await run('routed', { customer: { zone: 'us' } }))
  await holds(eu, await run('routed', { customer: { zone: 'eu' } }))
  await holds(
    us,
    await run('routed', { customer: { zone: 'us' } }, { 'x-svc-preferred-worker': 'in-eu' }),
  )
  await holds(eu, await run('routed', { customer: {} }))
  for (const header of ['x-svc-preferred-worker', 'x-flux-preferred-worker'])
    await holds(us, await run('plain', null, { [header]: 'in-us' }))
  // Without a policy or preference, the worker with the lower load gets the work.
  await holds(eu, await run('plain', null))
  await holds(eu, await run('plain', null, { 'x-svc-preferred-worker': 'gone' }))
})
