import { query } from '@windlass/testkit/database'
import { ScriptedWorker } from '@windlass/testkit/scripted-worker'
import { expect, onTestFinished, test } from 'vitest'
import { client } from './api.ts'
import { executionFixture, expectOk, sharedSystem } from './execution-fixture.ts'

/** Asynchronous executions in the queue; the issue that this shows to be solved had 4,000. */
const QUEUED = Number(process.env.TEST_QUEUED ?? 1_000)
/** Requests that are sent at a time. */
const CONCURRENCY = 32
/** Limit for a hang: the synchronous run is answered when it has been completed or cancelled. */
const WAIT_S = 120

const system = sharedSystem({ singleProcess: true })

/**
 * Sets the queue times of a workflow this long apart, in their order, however long it took to queue its executions:
 * otherwise the first ones would rise a level after ten seconds.
 */
const spaceQueueTimes = (workflow: string, apartMs: number) =>
  query(
    system().database,
    `update executions.executions as e
        set queued_at = now() - (total - place) * interval '${apartMs} ms'
       from (select execution_id, row_number() over (order by queued_at) as place,
                    count(*) over () as total
               from executions.executions
              where workflow_name = '${workflow}' and queued_at is not null) as queue
      where e.execution_id = queue.execution_id`,
  )

/** Queues asynchronous executions and then a synchronous run of the same workflow. No worker is connected. */
async function queueWithSyncRun(syncQuery = '') {
  const a = await executionFixture(system(), 0)
  const queued = new Set<string>()
  let sent = 0
  const loop = async () => {
    while (sent++ < QUEUED) queued.add(await a.run())
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, loop))
  const runQuery = `?timeout=${WAIT_S}${syncQuery}`
  const answer = a.requestRun('null', { mode: 'sync', query: runQuery, timeoutMs: 2_000 * WAIT_S })
  const listNewest = async () => expectOk(await a.send('GET', `${a.flow}/executions?limit=1`))
  await expect.poll(async () => (await listNewest()).total).toBe(QUEUED + 1)
  const id: string = (await listNewest()).executions[0].execution_id
  expect(queued).not.toContain(id)
  await spaceQueueTimes(a.name, 1)
  return { a, queued, sync: { id, answer }, worker: await a.startWorker({ capacity: 1 }) }
}

const nextDispatched = async (worker: ScriptedWorker) =>
  (await worker.nextFrame('execution_scheduled')).execution_id

async function complete(worker: ScriptedWorker, id: string): Promise<void> {
  expectOk(await worker.complete(id, await worker.claimGeneration(id)))
}

test(`synchronous run behind ${QUEUED} queued asynchronous ones: dispatched before all of them`, async () => {
  const { queued, sync, worker } = await queueWithSyncRun()
  expect(await nextDispatched(worker)).toBe(sync.id)
  await complete(worker, sync.id)
  expect(expectOk(await sync.answer)).toMatchObject({ execution_id: sync.id, state: 'COMPLETED' })
  expect(queued).toContain(await nextDispatched(worker))
})

test('synchronous run with the priority of the queued ones: dispatched after all of them', async () => {
  const { a, queued, sync, worker } = await queueWithSyncRun('&priority=5')
  const taken = 20
  for (let i = 1; ; i++) {
    const id = await nextDispatched(worker)
    expect(queued).toContain(id)
    // Holds the last one, so that the queue stays as it is.
    if (i === taken) break
    await complete(worker, id)
  }
  const explained = expectOk(await a.send('GET', `/executions/${sync.id}/explain`))
  expect(explained).toMatchObject({ state: 'SCHEDULED', queue_position: QUEUED - taken + 1 })
  expectOk(await a.cancel(sync.id))
  expect(expectOk(await sync.answer)).toMatchObject({ state: 'CANCELLED' })
})

test('execution of a lower priority that has waited for longer: dispatched before newer ones', async () => {
  const a = await executionFixture(system(), 0)
  const low = await a.run('null', { query: '?priority=3' })
  const others = [await a.run(), await a.run()]
  // A level for every ten seconds.
  await query(
    system().database,
    `update executions.executions set queued_at = queued_at - interval '1 minute'
      where execution_id = '${low}'`,
  )
  const worker = await a.startWorker({ capacity: 1 })
  for (const expected of [low, ...others]) {
    expect(await nextDispatched(worker)).toBe(expected)
    await complete(worker, expected)
  }
})

const namespaceSource = (namespace: string, pool: string) => `
from windlass import ExecutionContext, workflow


@workflow.with_options(namespace="${namespace}", affinity={"pool": "${pool}"})
async def turn(ctx: ExecutionContext):
    return ctx.input
`

test('namespace with a long queue and one with a short queue: dispatched in turn', async () => {
  const api = client(system().url)
  for (const namespace of ['long', 'short']) await api.upload(namespaceSource(namespace, 'turns'))
  const run = (namespace: string) => api.json('POST', `/workflows/${namespace}/turn/run/async`, 1)
  for (let i = 0; i < 20; i++) await run('long')
  for (let i = 0; i < 2; i++) await run('short')
  // At the same time, so that all of them have the same level whenever they are dispatched.
  await spaceQueueTimes('turn', 0)
  const worker = new ScriptedWorker({
    ...{ url: system().url, bootstrap: await system().bootstrapToken() },
    ...{ labels: { pool: 'turns' }, capacity: 1 },
  })
  onTestFinished(() => worker.close())
  await worker.start()
  const turns: string[] = []
  for (let i = 0; i < 5; i++) {
    const { execution_id, data } = await worker.nextFrame('execution_scheduled')
    turns.push(data.context.workflow_namespace)
    await complete(worker, execution_id)
  }
  const [first = '', second = ''] = turns
  expect(new Set([first, second])).toEqual(new Set(['long', 'short']))
  expect(turns).toEqual([first, second, first, second, 'long'])
})
