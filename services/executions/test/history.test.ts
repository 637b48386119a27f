import { randomBytes } from 'node:crypto'
import type { ReadLogRequest } from '@windlass/proto/windlass/executions/v1/history'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { event, run, submit, worker } from './executions-fixture.ts'
import { ALL, searchSetup } from './history-fixture.ts'
import { ONE } from './search-cases.ts'
import { FIRST_MS, MINUTE_MS, seedSamples } from './search-samples.ts'

const NO_EXECUTION = 'f'.repeat(32)

/** Creates and claims an execution; its worker sends the given reports. */
async function claimed(client: Parameters<typeof run>[0], fields = {}) {
  const { execution_id } = await run(client, fields)
  const w = worker(client)
  const { leases } = await w.lease()
  const writer = w.writer(leases[0]?.execution?.claim_generation)
  const as = (body: Parameters<typeof submit>[1]['body']) =>
    submit(client, { execution_id, with_log: false, body })
  await as({ $case: 'claim', value: { writer, awaits_confirmation: false } })
  const report = (state: string, events: ReturnType<typeof event>[]) =>
    as({ $case: 'checkpoint', value: { writer, state, events } })
  return { execution_id, report, worker_name: w.worker_name }
}

test('a log of 13 entries: pages forwards, backwards, of some types, with cut and omitted values', async () => {
  const { client, history } = await searchSetup()
  const { execution_id, report } = await claimed(client)
  const values = ['"é".repeat', 'x'.repeat(3_000)].map((text) => JSON.stringify(text))
  const events = Array.from({ length: 11 }, (_, i) =>
    event(i % 2 ? 'TASK_STARTED' : 'TASK_COMPLETED', { value_json: values[i % 2] ?? '' }),
  )
  await report('RUNNING', events)
  const read = async (request: Partial<ReadLogRequest>) => {
    const none = { execution_id, after: 0, before: 0, limit: 5, types: [] }
    const page = await history.readLog({ ...none, ...request })
    const seqs = page.entries.map(({ entry }) => entry?.seq)
    return { page, seen: [seqs, page.more_before, page.more_after, page.last_seq] }
  }
  expect((await read({})).seen).toEqual([[1, 2, 3, 4, 5], false, true, 13])
  expect((await read({ after: 10 })).seen).toEqual([[11, 12, 13], true, false, 13])
  expect((await read({ after: 13 })).seen).toEqual([[], true, false, 13])
  expect((await read({ before: 9_999 })).seen).toEqual([[9, 10, 11, 12, 13], true, false, 13])
  expect((await read({ before: 4 })).seen).toEqual([[1, 2, 3], false, true, 13])
  expect((await read({ after: 2, before: 5 })).seen).toEqual([[3, 4], true, true, 13])
  const types = ['TASK_COMPLETED']
  expect((await read({ types })).seen).toEqual([[3, 5, 7, 9, 11], false, true, 13])
  expect((await read({ types, after: 11 })).seen).toEqual([[13], true, false, 13])
  const [, , , long] = (await read({ max_value_chars: 100 })).page.entries
  expect([long?.cut, long?.value_bytes, long?.entry?.value_json.length]).toEqual([true, 3_002, 100])
  const [, , short] = (await read({ max_value_chars: 100 })).page.entries
  expect([short?.cut, short?.value_bytes, short?.entry?.value_json]).toEqual([false, 15, values[0]])
  const [omitted] = (await read({ max_value_chars: 0 })).page.entries
  expect(omitted?.entry?.value_json).toBe('')
  await expect(read({ execution_id: NO_EXECUTION })).rejects.toMatchObject({ kind: 'not_found' })
})

test('input, output and error: the stored bytes from any position, and none before there is one', async () => {
  const { client, history } = await searchSetup()
  const input_json = '{"n": 12345678901234567890, "n": "é€😀"}'
  const { execution_id, report } = await claimed(client, { input_json })
  const part = async (kind: string, offset = 0, length = 1_000) => {
    const answer = await history.readPayload({ execution_id, kind, offset, length })
    return answer.found ? [answer.part.toString('latin1'), answer.total_bytes] : undefined
  }
  const bytes = Buffer.from(input_json)
  expect(await part('input')).toEqual([bytes.toString('latin1'), bytes.length])
  expect(await part('input', 33, 3)).toEqual([
    bytes.subarray(33, 36).toString('latin1'),
    bytes.length,
  ])
  expect(await part('input', 9_999)).toEqual(['', bytes.length])
  expect([await part('output'), await part('error')]).toEqual([undefined, undefined])
  const value_json = '{"type":"E","message":"m"}'
  await report('FAILED', [event('WORKFLOW_FAILED', { value_json })])
  expect([await part('output'), await part('error')]).toEqual([undefined, [value_json, 26]])
  const [head] = (await client.get({ execution_ids: [execution_id], without_payloads: true }))
    .executions
  expect([head?.state, head?.input_json, head?.output_json]).toEqual(['FAILED', 'null', undefined])
  const request = { execution_id: NO_EXECUTION, kind: 'input', offset: 0, length: 1 }
  await expect(history.readPayload(request)).rejects.toMatchObject({ kind: 'not_found' })
})

/** Ids of the Python SDK: a call within the second try of the first one, and a compensation of a saga. */
const [OUTER, INNER, UNDO] = [
  'outer_0123456789abcdef',
  'inner_0123456789abcdef@658b9920ccc7',
  'undo_0123456789abcdef@936fccfc8fe9',
]

test('a timeline: attempts with their worker and end, calls of tasks', async () => {
  const { client, history } = await searchSetup()
  const { execution_id, report, worker_name } = await claimed(client)
  const call = { source_id: 'fetch_1', name: 'fetch' }
  await report('COMPLETED', [
    event('WORKFLOW_STARTED'),
    event('TASK_STARTED', call),
    event('TASK_COMPLETED', call),
    event('TASK_STARTED', { source_id: OUTER, name: 'outer' }),
    event('TASK_RETRY_FAILED', { source_id: OUTER, name: 'outer' }),
    event('TASK_RETRY_STARTED', { source_id: OUTER, name: 'outer' }),
    event('TASK_STARTED', { source_id: INNER, name: 'inner' }),
    event('TASK_STARTED', { source_id: UNDO, name: 'undo' }),
    event('WORKFLOW_COMPLETED'),
  ])
  const { timeline_json } = await history.timeline({ execution_id })
  expect(JSON.parse(timeline_json)).toMatchObject({
    ...{ execution_id, state: 'COMPLETED', cut: false },
    tasks: ['fetch', 'outer', 'inner', 'undo'],
    attempts: [{ worker: worker_name, queued: 0, end: 'completed' }],
    calls: {
      ...{ state: 'crrr', task: [0, 1, 2, 3], seq: [4, 2, 3, 1] },
      ...{ tries: [[1, 2]], parent: [[2, 1]], compensating: [3] },
    },
  })
  const absent = history.timeline({ execution_id: NO_EXECUTION })
  await expect(absent).rejects.toMatchObject({ kind: 'not_found' })
})

/** A result as the Python SDK records it, with a text that PostgreSQL cannot convert. */
const result = (value: string, mark = '') =>
  `{"storage_type":"inline","reference_id":"c","metadata":{"value":${value}${mark}}}`
const CACHED = ',"~cached":true'

test('results that a cache had: listed by the timeline, up to 4 MiB of results in 10,000 entries', async () => {
  const { client, history } = await searchSetup()
  const { execution_id, report } = await claimed(client)
  // Random, so that its stored form is as large.
  const large = JSON.stringify(randomBytes(2_500_000).toString('base64'))
  const values = [
    result('"\\u0000 \\ud800"', CACHED),
    result('1'),
    result('{"~cached":true}'),
    result('[1]', ',"~cached":"true"'),
    ...['null', '"~cached"', '[{"~cached":true}]', '{"metadata":[true]}'],
    result(large, CACHED),
    result(large, CACHED),
    result('1', CACHED),
  ]
  const events = values.flatMap((value_json, i) => {
    const call = { source_id: `call_${i}`, name: 'call' }
    return [event('TASK_STARTED', call), event('TASK_COMPLETED', { ...call, value_json })]
  })
  await report('RUNNING', events)
  const { timeline_json } = await history.timeline({ execution_id })
  expect(JSON.parse(timeline_json)).toMatchObject({ calls: { cached: [0, 8] } })
})

test('statistics: what was created, ended and failed in each step, and percentiles of waits and runs', async () => {
  const { db, history } = await searchSetup()
  const samples = await seedSamples(db)
  const STEP_MS = 30 * MINUTE_MS
  const from = new Date(FIRST_MS + 2 * STEP_MS)
  const to = new Date(FIRST_MS + 5 * STEP_MS)
  const request = {
    ...{ from, to, step_seconds: STEP_MS / 1_000, group: '', visible: ALL },
    ...{ workflow_namespace: '', workflow_name: '', worker_name: '' },
  }
  const within = (ms: number | undefined) => ms !== undefined && ms >= +from && ms < +to
  const count = (is: (one: (typeof samples)[number]) => boolean) => samples.filter(is).length
  const totals = (buckets: { started: number; ended: number; failed: number }[]) =>
    (['started', 'ended', 'failed'] as const).map((name) =>
      buckets.reduce((sum, bucket) => sum + bucket[name], 0),
    )
  const expected = (is: (one: (typeof samples)[number]) => boolean) => [
    count((one) => is(one) && within(one.created)),
    count((one) => is(one) && within(one.finished)),
    count((one) => is(one) && within(one.finished) && one.state === 'FAILED'),
  ]
  const all = await history.stats(request)
  expect([totals(all.buckets), all.cut]).toEqual([expected(() => true), false])
  expect(all.buckets.map(({ step }) => step).sort()).toEqual([0, 1, 2])
  const [first] = all.buckets
  expect(first?.queue_wait).toEqual([1, 1, 1])
  expect(first?.run_time[0]).toBeGreaterThan(0)
  const one = await history.stats({ ...request, visible: ONE })
  expect(totals(one.buckets)).toEqual(expected(({ namespace }) => namespace === 'one'))
  const named = await history.stats({ ...request, workflow_name: 'a', worker_name: 'w1' })
  const isNamed = ({ name, worker }: (typeof samples)[number]) => name === 'a' && worker === 'w1'
  expect(totals(named.buckets)).toEqual(expected(isNamed))
  const grouped = await history.stats({ ...request, group: 'workflow' })
  expect(new Set(grouped.buckets.map(({ group }) => group)).size).toBe(6)
  const versions = await history.stats({ ...request, workflow_name: 'a', group: 'version' })
  const second = versions.buckets.filter(({ group }) => group === '2')
  expect(totals(second)).toEqual(expected(({ name, version }) => name === 'a' && version === 2))
  expect(totals(versions.buckets)).toEqual(expected(({ name }) => name === 'a'))
  expect(totals(grouped.buckets)).toEqual(expected(() => true))
})

test('queue depths: queued executions of each requirement that the caller may read', async () => {
  const { client, db, history } = await searchSetup()
  for (const workflow_namespace of ['one', 'one', 'two']) await run(client, { workflow_namespace })
  const depths = async (visible: typeof ONE = ALL) => {
    const { queues } = await history.queueDepths({ visible })
    return queues.map(({ depth, depth_exact, created }) => [depth, depth_exact, created])
  }
  expect(await depths()).toEqual([[3, true, 3]])
  expect(await depths(ONE)).toEqual([[2, true, 2]])
  await db.run(sql`update executions set queued_at = null, state = 'PAUSED'`)
  expect(await depths()).toEqual([])
})
