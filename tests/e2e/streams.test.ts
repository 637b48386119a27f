import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { executionFixture, expectOk, HANG_MS, sharedSystem } from './execution-fixture.ts'
import { expectEnded, follow, terminalFrames } from './follow-events.ts'

const system = sharedSystem({ replicas: { gateway: 2, executions: 2, dispatcher: 2 } })
const PATIENT = { timeout: 240_000 }

const task = (n: number) => [
  { type: 'TASK_STARTED', source_id: `t_${n}`, value: String(n) },
  { type: 'TASK_COMPLETED', source_id: `t_${n}`, value: String(n) },
]

test('S1: event stream at any gateway, opened before or after the end: one terminal event, then closed', async () => {
  const a = await executionFixture(system(), 1)
  const [worker] = a.workers
  if (!worker) expect.unreachable()
  const endings = [
    (id: string, generation: number) => worker.complete(id, generation, '"done"', { url: a.two }),
    (id: string, generation: number) =>
      worker.checkpoint(
        id,
        { state: 'FAILED', generation, events: [{ type: 'WORKFLOW_FAILED' }] },
        { url: a.two },
      ),
    async (id: string) => {
      await a.cancel(id, a.two)
      await worker.nextFrame('execution_cancelled', id)
      return worker.checkpoint(id, { state: 'CANCELLED', events: [{ type: 'WORKFLOW_CANCELLED' }] })
    },
  ]
  for (const [i, end] of endings.entries()) {
    const id = await a.run()
    const generation = await worker.awaitAndClaim(id)
    const reads = [await follow(a, id, a.one), await follow(a, id, a.two)]
    expectOk(await end(id, generation))
    await expectEnded(reads)
    const late = await follow(a, id)
    await expectEnded([late])
    const [state = ''] = [['COMPLETED'], ['FAILED'], ['CANCELLED']][i] ?? []
    for (const read of [...reads, late]) {
      expect(terminalFrames(read).map(({ data }) => JSON.parse(data).state)).toEqual([state])
      expect(read.frames.at(-1)?.event).toBe(`workflow_${state.toLowerCase()}`)
    }
  }
})

test(
  'S2: a hundred readers at two gateways: every event in order, progress of each gateway in order, once',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 1)
    const [worker] = a.workers
    if (!worker) expect.unreachable()
    const id = await a.run()
    const generation = await worker.awaitAndClaim(id)
    const reads = await Promise.all(
      Array.from({ length: 100 }, (_, i) => follow(a, id, i % 2 ? a.one : a.two)),
    )
    const TASKS = 60
    for (let n = 0; n < TASKS; n++) {
      expectOk(
        await worker.checkpoint(
          id,
          { state: 'RUNNING', generation, events: task(n) },
          { url: n % 2 ? a.one : a.two },
        ),
      )
      const body = JSON.stringify([{ task_id: `t_${n}`, task_name: 't', value: n }])
      expectOk(await worker.post(`progress/${id}`, { body }, { url: n % 3 ? a.one : a.two }))
    }
    expectOk(await worker.complete(id, generation))
    await expectEnded(reads)
    const { events } = await a.read(id)
    const sequence = events.flatMap(({ type }: { type: string }, i: number) =>
      /^WORKFLOW_(SCHEDULED|CLAIMED)$/.test(type) ? [] : [String(i + 1)],
    )
    expect(sequence).toHaveLength(2 * TASKS + 1)
    for (const { frames } of reads) {
      const log = frames.filter(({ event }) => event !== 'task_progress')
      expect(log.map((frame) => frame.id)).toEqual(sequence)
      const progress = frames.flatMap(({ event, data }) =>
        event === 'task_progress' ? [JSON.parse(data).value] : [],
      )
      expect(progress).toHaveLength(new Set(progress).size)
      // Gateways publish over connections of their own, so order holds within one gateway only.
      for (const isOne of [true, false]) {
        const ofGateway = progress.filter((n: number) => isOne === n % 3 > 0)
        expect(ofGateway).toEqual(ofGateway.toSorted((x: number, y: number) => x - y))
      }
    }
    const [last] = (await Promise.all([follow(a, id, a.two, '50')])).map((read) => read)
    if (!last) expect.unreachable()
    await expectEnded([last])
    expect(last.frames.map((frame) => frame.id)).toEqual(
      sequence.filter((seq: string) => Number(seq) > 50),
    )
  },
)

test('S5: idle stream: sends a comment in every heartbeat interval', async () => {
  const a = await executionFixture(system(), 0)
  const id = await a.run()
  const response = await fetch(`${a.one}/executions/${id}/events`, {
    signal: AbortSignal.timeout(10_000),
  })
  expect(response.headers.get('cache-control')).toContain('no-cache')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    if (text.split(': ping').length > 5) break
  }
  expect(text.split(': ping').length).toBeGreaterThan(5)
})

test('S6: readers and workers vanish: their connections and subscriptions are closed', async () => {
  const a = await executionFixture(system(), 0)
  const id = await a.run('null')
  const pids = (['gateway', 'dispatcher'] as const).flatMap((service) =>
    system()
      .of(service)
      .map(({ pid = 0 }) => pid),
  )
  const open = () => pids.reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0)
  const reads = await Promise.all(
    Array.from({ length: 40 }, (_, i) => follow(a, id, i % 2 ? a.one : a.two)),
  )
  const workers = await Promise.all(Array.from({ length: 10 }, () => a.startWorker()))
  const most = open()
  for (const { stream } of reads) stream.close()
  for (const worker of workers) worker.close()
  // One of each reader, three of each worker: at the gateway, from there to the dispatcher, and at the dispatcher. The
  // number of other connections between services varies by a few.
  const closed = () => most - open()
  await expect.poll(closed, { timeout: HANG_MS, interval: 100 }).toBeGreaterThanOrEqual(40 + 30 - 5)
})
