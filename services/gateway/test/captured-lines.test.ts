import type {
  AppendLinesRequest,
  CapturedLine,
  ReadLinesRequest,
} from '@windlass/proto/windlass/executions/v1/captured_lines'
import { expect, test } from 'vitest'
import { allFrames, framesOf } from './frames.ts'
import { startGateway } from './gateway-fixture.ts'

const LINE = {
  ...{ task_id: 't_1', task_name: 't', level: 25, logger: 'shop', message: 'a\r\nb\u2028' },
  ...{ time: '2026-01-02T03:04:05.006Z' },
}
const COMPLETED = { type: 'WORKFLOW_COMPLETED', value_json: '1' }

/** A gateway whose executions service stores lines in memory. */
async function setup() {
  const stored: CapturedLine[] = []
  const appended: AppendLinesRequest[] = []
  const reads: ReadLinesRequest[] = []
  const gateway = await startGateway({
    capturedLines: {
      async append(request) {
        appended.push(request)
        for (const line of request.lines) stored.push({ ...line, seq: stored.length + 1 })
        return { last_seq: stored.length }
      },
      async read(request) {
        reads.push(request)
        const rest = stored.filter(({ seq }) => seq > request.after)
        return { lines: rest.slice(0, request.limit), more: rest.length > request.limit }
      },
    },
  })
  const { json, executions } = gateway
  await json('POST', '/workflows/default/hello/run/async', 1)
  const id = executions.last
  const send = async (first: number, ...lines: object[]) => {
    const { status } = await json('POST', `/workers/w1/logs/${id}`, { first, lines })
    return status
  }
  return { ...gateway, id, send, appended, reads }
}

test('lines of a held execution: stored under its claim; malformed ones are refused', async () => {
  const { send, appended, executions, json, id } = await setup()
  expect(await send(7, LINE, { ...LINE, task_id: '' })).toBe(200)
  expect(executions.commands.at(-1)).toMatchObject({ body: { $case: 'verify' } })
  expect(appended).toMatchObject([{ execution_id: id, first: 7, lines: [LINE, { task_id: '' }] }])
  expect(await send(0, { ...LINE, message: 'NUL \0' })).toBe(422)
  expect(await send(0, { ...LINE, level: 'info' })).toBe(422)
  expect(await send(-1)).toBe(422)
  expect(await send(0, ...Array.from({ length: 501 }, () => LINE))).toBe(422)
  expect((await json('POST', `/workers/w1/logs/${id}`, [])).status).toBe(422)
  expect(appended).toHaveLength(1)
})

test('lines of a checkpoint: stored before its events; malformed ones are dropped', async () => {
  const { appended, executions, json, id } = await setup()
  const report = {
    ...{ workflow_id: 'w', workflow_namespace: 'default', workflow_name: 'hello' },
    ...{ execution_id: id, state: 'RUNNING', events: [] },
  }
  const send = async (captured_lines: unknown) => {
    const path = `/workers/w1/checkpoint/${id}`
    return (await json('POST', path, { ...report, captured_lines })).status
  }
  const kinds = () => executions.commands.map(({ body }) => body?.$case)
  expect(await send({ first: 3, lines: [LINE] })).toBe(200)
  expect(appended).toMatchObject([{ execution_id: id, first: 3, lines: [LINE] }])
  expect(kinds().slice(-2)).toEqual(['verify', 'checkpoint'])
  const malformed = [{ first: 4, lines: [{ ...LINE, level: 'info' }] }, [], null, 'text']
  for (const lines of malformed) expect(await send(lines)).toBe(200)
  expect(appended).toHaveLength(1)
  expect(kinds().filter((kind) => kind === 'checkpoint')).toHaveLength(1 + malformed.length)
})

test('the lines of an execution: in pages, from a level on, of one task', async () => {
  const { call, send, id, reads } = await setup()
  await send(0, LINE, { ...LINE, level: 3 }, { ...LINE, level: 60 })
  const response = await call('GET', `/executions/${id}/logs?limit=2`)
  expect(await response.json()).toEqual({
    lines: [
      { ...LINE, level: 'info', seq: 1 },
      { ...LINE, level: 'debug', seq: 2 },
    ],
    more: true,
  })
  const next = await call('GET', `/executions/${id}/logs?after=2&level=error&task_id=t_1`)
  expect(await next.json()).toMatchObject({ lines: [{ level: 'critical' }], more: false })
  expect(reads.at(-1)).toMatchObject({ after: 2, min_level: 40, task_id: 't_1', limit: 100 })
  for (const query of ['limit=0', 'limit=1001', 'after=x', 'level=loud'])
    expect((await call('GET', `/executions/${id}/logs?${query}`)).status, query).toBe(422)
})

test('a stream with logs: lines so far, new ones, and all of them before the end; others get none', async () => {
  const { call, send, id, executions } = await setup()
  await send(0, LINE)
  const plain = call('GET', `/executions/${id}/events`).then(allFrames)
  const frames = framesOf(await call('GET', `/executions/${id}/events?logs=true`))
  const next = async () => (await frames.next()).value
  expect(await next()).toMatchObject({
    event: 'log_line',
    data: {
      ...{ type: 'LOG_LINE', source_id: 't_1', name: 't', time: LINE.time },
      value: { seq: 1, level: 'info', logger: 'shop', message: LINE.message },
    },
  })
  await send(1, { ...LINE, message: 'live' })
  expect(await next()).toMatchObject({ data: { value: { seq: 2, message: 'live' } } })
  const [rest] = await Promise.all([
    (async () => [await next(), await next()])(),
    send(2, { ...LINE, message: 'last' }).then(() => executions.grow(id, 'COMPLETED', [COMPLETED])),
  ])
  expect(rest).toMatchObject([{ data: { value: { seq: 3 } } }, { event: 'workflow_completed' }])
  expect((await plain).map(({ event }) => event)).toEqual(['workflow_completed'])
  const again = await call('GET', `/executions/${id}?mode=stream&logs=true&logs_after=2`)
  const events = (await allFrames(again)).map(({ event }) => event)
  expect(events).toEqual(['log_line', 'workflow_completed'])
})

test('executions of an earlier release: 503 for lines, and streams without them', async () => {
  const { call, json, executions } = await startGateway()
  await json('POST', '/workflows/default/hello/run/async', 1)
  const id = executions.last
  executions.grow(id, 'COMPLETED', [COMPLETED])
  expect((await call('GET', `/executions/${id}/logs`)).status).toBe(503)
  const body = { first: 0, lines: [LINE] }
  expect((await json('POST', `/workers/w1/logs/${id}`, body)).status).toBe(503)
  const frames = await allFrames(await call('GET', `/executions/${id}/events?logs=true`))
  expect(frames.map(({ event }) => event)).toEqual(['workflow_completed'])
})
