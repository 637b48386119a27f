import { randomBytes } from 'node:crypto'
import { query } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { client } from './api.ts'
import { HANG_MS, sharedSystem } from './execution-fixture.ts'
import { connectWorker, workerEvent } from './minimal-worker.ts'

const SOURCE = `
from windlass import ExecutionContext, pause, task, workflow

@task
async def double(number):
    return 2 * number

# Only the Python worker has this runner.
@workflow.with_options(runner="subprocess")
async def short(ctx: ExecutionContext):
    return await double(ctx.input)

@workflow.with_options(affinity={"pool": "plain"})
async def elsewhere(ctx: ExecutionContext):
    pass

@workflow
async def asks(ctx: ExecutionContext):
    return await pause("approval")
`

const system = sharedSystem({ replicas: { gateway: 2, dispatcher: 2 }, workers: 1 })

interface Entry {
  type: string
  /** Transaction that stored it. */
  xid: string
}

const logOf = (execution_id: string): Promise<Entry[]> =>
  query(
    system().database,
    `select type, xid::text as xid from executions.events where execution_id = '${execution_id}' order by seq`,
  ) as Promise<Entry[]>

async function expectClaimedByCheckpoint(execution_id: string, claim: string, first: string) {
  const log = await logOf(execution_id)
  const at = log.findIndex(({ type }) => type === claim)
  expect(log[at + 1]?.type).toBe(first)
  expect(log[at + 1]?.xid).toBe(log[at]?.xid)
}

test('a run of the Python worker: claimed by its first checkpoint, in one transaction', async () => {
  const api = client(system().url)
  await api.upload(SOURCE)
  const { execution_id, output } = await api.run('short', 'sync', 21)
  expect(output).toBe(42)
  await expectClaimedByCheckpoint(execution_id, 'WORKFLOW_CLAIMED', 'WORKFLOW_STARTED')
})

test('a resume of the Python worker: claimed by the first checkpoint after it', async () => {
  const api = client(system().url)
  await api.upload(SOURCE)
  const { execution_id } = await api.run('asks', 'async')
  await api.until(execution_id, 'PAUSED')
  await api.json('POST', `/workflows/default/asks/resume/${execution_id}/async`, { by: 'me' })
  expect((await api.until(execution_id, 'COMPLETED')).output).toEqual({ by: 'me' })
  await expectClaimedByCheckpoint(execution_id, 'WORKFLOW_RESUME_CLAIMED', 'WORKFLOW_RESUMED')
})

test(
  'C1: workers of both kinds in one fleet: each lease is claimed once, and all executions end',
  async () => {
    const api = client(system().url)
    await api.upload(SOURCE)
    const plain = await connectWorker(system(), 'plain', `plain-${randomBytes(3).toString('hex')}`)
    await plain.connect()
    let isOver = false
    onTestFinished(() => {
      isOver = true
    })
    const serve = async () => {
      for (; !isOver; await new Promise((resolve) => setTimeout(resolve, 5)))
        for (const { event, data } of plain.frames.splice(0))
          if (event === 'execution_scheduled') await complete(plain, JSON.parse(data))
    }
    const serving = serve()
    const names = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 'short' : 'elsewhere'))
    const runs = await Promise.all(names.map((name) => api.run(name, 'async', 1)))
    for (const [i, { execution_id }] of runs.entries()) {
      const { output } = await api.until(execution_id, 'COMPLETED')
      expect(output).toBe(names[i] === 'short' ? 2 : 'plain')
      const claims = (await logOf(execution_id)).filter(({ type }) => type === 'WORKFLOW_CLAIMED')
      expect(claims).toHaveLength(1)
    }
    isOver = true
    await serving
  },
  HANG_MS * 3,
)

type PlainWorker = Awaited<ReturnType<typeof connectWorker>>

interface Dispatch {
  context: { execution_id: string }
  claim?: unknown
  workflow: { source?: string }
}

/** Claims and completes a dispatched execution, as workers do that announce nothing. */
async function complete(worker: PlainWorker, { context, claim, workflow }: Dispatch) {
  expect([claim, typeof workflow.source]).toEqual([undefined, 'string'])
  const { execution_id } = context
  const { headers, json } = await worker.post(`claim/${execution_id}`)
  const generation = { 'x-svc-claim-generation': String(headers['x-svc-claim-generation']) }
  const events = [workerEvent('WORKFLOW_COMPLETED', 'plain')]
  const body = JSON.stringify({ ...json, state: 'COMPLETED', events })
  await worker.post(`checkpoint/${execution_id}`, { body, headers: generation })
}
