import type {
  ReadLogRequest,
  ReadPayloadRequest,
  StatsRequest,
} from '@windlass/proto/windlass/executions/v1/history'
import { expect, test } from 'vitest'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

const MEBIBYTE = 1_048_576
/** Longer than one part, with characters of several bytes. */
const INPUT = Buffer.from(JSON.stringify(`${'é'.repeat(MEBIBYTE)}!`))
const AT = '2026-01-02T03:00:00.000Z'

const ENTRY = {
  ...{ seq: 1, event_id: 'e1', type: 'TASK_STARTED', source_id: 's', name: 'n' },
  ...{ value_json: '{"n": 12345678901234567890}', time: AT },
}

async function setup() {
  const logs: ReadLogRequest[] = []
  const stats: StatsRequest[] = []
  const parts: [offset: number, length: number][] = []
  const none = { rows: [], total: 0, total_exact: true, next_cursor: '', cut: false }
  let revision = 1
  const workers: string[] = []
  const { call } = await startGateway({
    history: {
      async readLog(request) {
        logs.push(request)
        const entries = [{ entry: ENTRY, value_bytes: 27, cut: request.max_value_chars === 1_024 }]
        return { entries, last_seq: 9, more_before: false, more_after: true }
      },
      async readPayload({ kind, offset, length }: ReadPayloadRequest) {
        parts.push([offset, length])
        const found = kind !== 'error'
        const part = INPUT.subarray(offset, offset + length)
        // The output changes after each read.
        if (kind === 'output') revision++
        return { found, part, total_bytes: INPUT.length, revision }
      },
      timeline: async () => ({ timeline_json: '{"n":1}' }),
      async stats(request) {
        stats.push(request)
        const bucket = { group: 'w', step: 1, started: 3, ended: 2, failed: 1 }
        return { buckets: [{ ...bucket, queue_wait: [], run_time: [1, 2, 3] }], cut: false }
      },
      queueDepths: async () => ({
        queues: [
          {
            ...{ requirement_id: ID, depth: 10_000, depth_exact: false, oldest: new Date(AT) },
            ...{ created: 4, started: 2, requirement: undefined },
          },
        ],
        cut: false,
      }),
      async search({ worker_name }) {
        workers.push(worker_name)
        return none
      },
    },
    fleet: {
      explain: async () => ({
        verdicts: [
          { name: 'w1', status: 'online', lacking: [], capacity: 4 },
          { name: 'w2', status: 'offline', lacking: [], capacity: 0 },
          { name: 'w3', status: 'online', lacking: ['numpy'], capacity: 0 },
        ],
        needs: [],
      }),
    },
    queue: { loads: async () => ({ loads: [{ worker_name: 'w1', used: 3 }] }) },
  })
  const get = (path: string, headers = {}) => call('GET', path, { headers })
  return { get, logs, parts, stats, workers }
}

test('GET .../input with a range within a part: one read, of these bytes alone', async () => {
  const { get, parts } = await setup()
  const range = `bytes=${MEBIBYTE}-${MEBIBYTE + 65_539}`
  const part = await get(`/executions/${ID}/input`, { range })
  expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 65_540])
  expect(parts).toEqual([[MEBIBYTE, 65_540]])
})

test('GET .../log: entries with their value exactly as stored, its beginning, or its size alone', async () => {
  const { get, logs } = await setup()
  const path = `/executions/${ID}/log`
  const full = await (await get(`${path}?payloads=full&after=3&types=task_started`)).text()
  const head = `{"seq":1,"id":"e1","type":"TASK_STARTED","source_id":"s","name":"n","time":"${AT}"`
  const tail = '],"last_seq":9,"more_before":false,"more_after":true}'
  expect(full).toBe(`{"entries":[${head},"value_bytes":27,"value":${ENTRY.value_json}}${tail}`)
  const short = (await (await get(path)).json()) as { entries: object[] }
  expect(short.entries[0]).toMatchObject({ value_start: ENTRY.value_json })
  const omitted = await (await get(`${path}?payloads=omit&before=7&limit=5`)).text()
  expect(omitted).toBe(`{"entries":[${head},"value_bytes":27}${tail}`)
  const none = { execution_id: ID, after: 0, before: 0, limit: 100, types: [] }
  expect(logs).toEqual([
    { ...none, after: 3, types: ['TASK_STARTED'] },
    { ...none, max_value_chars: 1_024 },
    { ...none, before: 7, limit: 5, max_value_chars: 0 },
  ])
})

test('GET .../input: the stored bytes, whole or a range', async () => {
  const { get } = await setup()
  const path = `/executions/${ID}/input`
  const whole = await get(path)
  expect([whole.status, whole.headers.get('content-length')]).toEqual([200, `${INPUT.length}`])
  expect(Buffer.from(await whole.arrayBuffer()).equals(INPUT)).toBe(true)
  const ranges: [range: string, start: number, end: number][] = [
    ['bytes=0-9', 0, 9],
    ['bytes=1-', 1, INPUT.length - 1],
    [`bytes=${MEBIBYTE - 1}-${MEBIBYTE}`, MEBIBYTE - 1, MEBIBYTE],
    ['bytes=-5', INPUT.length - 5, INPUT.length - 1],
  ]
  for (const [range, start, end] of ranges) {
    const part = await get(path, { range })
    expect([part.status, part.headers.get('content-range')], range).toEqual([
      206,
      `bytes ${start}-${end}/${INPUT.length}`,
    ])
    const bytes = Buffer.from(await part.arrayBuffer())
    expect(bytes.equals(INPUT.subarray(start, end + 1)), range).toBe(true)
  }
  const outside = await get(path, { range: `bytes=${INPUT.length}-` })
  expect([outside.status, outside.headers.get('content-range')]).toEqual([
    416,
    `bytes */${INPUT.length}`,
  ])
})

test('GET .../error of an execution without one: 404', async () => {
  const { get } = await setup()
  expect((await get(`/executions/${ID}/error`)).status).toBe(404)
})

test('GET .../output that changes while it is sent: the response ends incomplete', async () => {
  const { get } = await setup()
  const response = await get(`/executions/${ID}/output`)
  await expect(response.arrayBuffer()).rejects.toThrow()
})

test('GET .../timeline: as the service made it', async () => {
  const { get } = await setup()
  expect(await (await get(`/executions/${ID}/timeline`)).json()).toEqual({ n: 1 })
})

test('GET /executions/stats: steps with their begin, counts and percentiles', async () => {
  const { get, stats } = await setup()
  const range = 'from=2026-01-02T03:00:00Z&to=2026-01-02T04:00:00Z'
  const found = await get(`/executions/stats?${range}&step=600&group=worker&namespace=team`)
  expect(await found.json()).toEqual({
    ...{ from: AT, to: '2026-01-02T04:00:00.000Z', step: 600, cut: false },
    buckets: [
      {
        ...{ group: 'w', at: '2026-01-02T03:10:00.000Z', started: 3, ended: 2, failed: 1 },
        ...{ queue_wait: null, run_time: { p50: 1, p95: 2, p99: 3 } },
      },
    ],
  })
  expect((await get(`/workers/w7/history?${range}`)).status).toBe(200)
  expect(stats.map(({ group, worker_name }) => [group, worker_name])).toEqual([
    ['worker', ''],
    ['', 'w7'],
  ])
})

test('GET /queue: depth, oldest, rates, and the workers that could run it with their load', async () => {
  const { get } = await setup()
  expect(await (await get('/queue')).json()).toEqual({
    queues: [
      {
        requirement_id: ID,
        requirement: { packages: [], affinity: {}, runner: null, namespace: null },
        ...{ depth: 10_000, depth_exact: false, oldest: AT },
        rates: { created_per_minute: 4, started_per_minute: 2 },
        workers: [{ name: 'w1', used: 3, capacity: 4 }],
      },
    ],
    cut: false,
  })
})

test('GET /workers/{name}/executions: a search for this worker', async () => {
  const { get, workers } = await setup()
  expect((await get('/workers/w7/executions?state=failed&worker_name=w8')).status).toBe(200)
  expect(workers).toEqual(['w7'])
})

const WRONG: [path: string, at: string][] = [
  [`/executions/${ID}/log?after=-1`, 'after'],
  [`/executions/${ID}/log?after=x`, 'after'],
  [`/executions/${ID}/log?before=0`, 'before'],
  [`/executions/${ID}/log?limit=1001`, 'limit'],
  [`/executions/${ID}/log?limit=0`, 'limit'],
  [`/executions/${ID}/log?types=LOST`, 'types'],
  [`/executions/${ID}/log?types=TASK_STARTED,`, 'types'],
  [`/executions/${ID}/log?payloads=some`, 'payloads'],
  ['/executions/stats?from=2026-01-02', 'from'],
  ['/executions/stats?group=version&workflow_name=a', 'group'],
  ['/executions/stats?group=version&namespace=a', 'group'],
  ['/executions/stats?from=2026-01-02T04:00:00Z&to=2026-01-02T03:00:00Z', 'from'],
  ['/executions/stats?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&step=1', 'step'],
  ['/executions/stats?step=0', 'step'],
  ['/executions/stats?step=1.5', 'step'],
  ['/executions/stats?group=state', 'group'],
  ['/workers/w1/history?step=x', 'step'],
  ['/workers/w1/executions?version=1', 'version'],
]

test('wrong parameters: 422 that names the parameter', async () => {
  const { get, logs, stats } = await setup()
  for (const [path, at] of WRONG) {
    const response = await get(path)
    const { detail } = (await response.json()) as { detail: object[] }
    expect([response.status, detail[0]], path).toMatchObject([422, { loc: ['query', at] }])
  }
  expect([logs, stats]).toEqual([[], []])
  for (const path of ['/executions/x/log', '/executions/x/input', '/executions/x/timeline'])
    expect((await get(path)).status, path).toBe(404)
})

test('executions of an earlier release: 503', async () => {
  const { call } = await startGateway()
  const paths = ['/executions/stats', '/queue', '/workers/w1/history']
  for (const path of [
    ...paths,
    ...['log', 'input', 'timeline'].map((one) => `/executions/${ID}/${one}`),
  ])
    expect((await call('GET', path)).status, path).toBe(503)
})
