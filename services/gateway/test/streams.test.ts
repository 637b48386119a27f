import { expect, test } from 'vitest'
import { allFrames, type Frame, framesOf } from './frames.ts'
import { startGateway } from './gateway-fixture.ts'

const RUN = '/workflows/default/hello/run'

const STARTED = { type: 'WORKFLOW_STARTED' }
const TASKS = [
  { type: 'TASK_STARTED', source_id: 't_1', name: 't', value_json: '{"x":1}' },
  { type: 'TASK_COMPLETED', source_id: 't_1', name: 't', value_json: '9007199254740993' },
]
const COMPLETED = { type: 'WORKFLOW_COMPLETED', value_json: '"done"' }

const summaryOf = (frames: Frame[]) => frames.map(({ id, event, data }) => [id, event, data.state])

test('a run stream: the events of the workers, then a last frame with the output', async () => {
  const { json, executions } = await startGateway()
  const response = await json('POST', `${RUN}/stream`, 1)
  expect(response.headers.get('cache-control')).toContain('no-cache')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  const id = executions.last
  executions.grow(id, 'SCHEDULED', [{ type: 'WORKFLOW_SCHEDULED' }])
  executions.grow(id, 'CLAIMED', [{ type: 'WORKFLOW_CLAIMED' }])
  executions.grow(id, 'RUNNING', [STARTED, ...TASKS])
  executions.grow(id, 'COMPLETED', [COMPLETED])
  const frames = await allFrames(response)
  expect(summaryOf(frames)).toEqual([
    ['3', 'workflow_started', 'RUNNING'],
    ['4', 'task_started', 'RUNNING'],
    ['5', 'task_completed', 'RUNNING'],
    ['6', 'workflow_completed', 'COMPLETED'],
  ])
  expect(frames[1]?.data).toEqual({
    execution_id: id,
    state: 'RUNNING',
    type: 'TASK_STARTED',
    source_id: 't_1',
    name: 't',
    value: { x: 1 },
    time: '2026-01-02T03:04:05Z',
  })
  expect(frames[3]?.data.output).toBe('done')
})

test('a run stream: header and first comment name the execution before any event', async () => {
  const { json, executions } = await startGateway()
  const response = await json('POST', `${RUN}/stream`, 1)
  const execution_id = executions.last
  expect(response.headers.get('x-svc-execution-id')).toBe(execution_id)
  const reader = response.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  expect(Buffer.from(value ?? []).toString()).toBe(`: execution_id ${execution_id}\n\n`)
  await reader?.cancel()
})

test('every mode of run and resume: the header names the execution', async () => {
  const { json, executions } = await startGateway()
  const answer = await json('POST', `${RUN}/async`, 1)
  expect(answer.headers.get('x-svc-execution-id')).toBe(executions.last)
  const short = await json('POST', `${RUN}/sync?timeout=0.1`, 1)
  expect(short.headers.get('x-svc-execution-id')).toBe(executions.last)
  executions.grow(executions.last, 'PAUSED', [STARTED, { type: 'WORKFLOW_PAUSED' }])
  const resume = `/workflows/default/hello/resume/${executions.last}`
  const resumed = await json('POST', `${resume}/stream`, 1)
  expect(resumed.headers.get('x-svc-execution-id')).toBe(executions.last)
  await resumed.body?.cancel()
})

test('S1: a stream: stays open at a pause, ends at a failure or cancellation', async () => {
  const { json, executions } = await startGateway()
  for (const end of ['FAILED', 'CANCELLED']) {
    const response = await json('POST', `${RUN}/stream`, 1)
    const id = executions.last
    executions.grow(id, 'PAUSED', [STARTED, { type: 'WORKFLOW_PAUSED' }])
    executions.grow(id, 'RESUMING', [{ type: 'WORKFLOW_RESUMING' }])
    executions.grow(id, 'RUNNING', [{ type: 'WORKFLOW_RESUMED' }])
    executions.grow(id, end, [{ type: `WORKFLOW_${end}` }])
    expect(summaryOf(await allFrames(response))).toEqual([
      ['1', 'workflow_started', 'RUNNING'],
      ['2', 'workflow_paused', 'PAUSED'],
      ['4', 'workflow_resumed', 'RUNNING'],
      ['5', `workflow_${end.toLowerCase()}`, end],
    ])
  }
})

test('omitted entries or lost messages: read from the log', async () => {
  const { json, executions } = await startGateway()
  for (const signals of [
    { on: true, omit: true },
    { on: false, omit: false },
  ]) {
    Object.assign(executions.signals, signals)
    const response = await json('POST', `${RUN}/stream`, 1)
    const id = executions.last
    executions.grow(id, 'RUNNING', [STARTED, ...TASKS, ...TASKS])
    executions.grow(id, 'COMPLETED', [COMPLETED])
    expect((await allFrames(response)).map((frame) => frame.id)).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
    ])
  }
})

test('S2: a lost message between two others: its entries come from the log, in order', async () => {
  const { json, executions } = await startGateway()
  const frames = framesOf(await json('POST', `${RUN}/stream`, 1))
  const id = executions.last
  executions.grow(id, 'RUNNING', [STARTED])
  expect((await frames.next()).value?.id).toBe('1')
  executions.signals.on = false
  executions.grow(id, 'RUNNING', TASKS.slice(0, 1))
  executions.signals.on = true
  executions.grow(id, 'RUNNING', TASKS.slice(1))
  executions.grow(id, 'COMPLETED', [COMPLETED])
  const rest: string[] = []
  for await (const frame of frames) rest.push(frame.id)
  expect(rest).toEqual(['2', '3', '4'])
})

test('S1: events of a terminal execution: streamed from the beginning', async () => {
  const { json, call, executions } = await startGateway()
  await json('POST', `${RUN}/async`, 1)
  const id = executions.last
  executions.grow(id, 'RUNNING', [STARTED, ...TASKS, ...TASKS])
  executions.grow(id, 'COMPLETED', [COMPLETED])
  const ids = ['1', '2', '3', '4', '5', '6']
  for (const path of [`/executions/${id}/events`, `/executions/${id}?mode=stream`]) {
    const frames = await allFrames(await call('GET', path))
    expect(frames.map((frame) => frame.id)).toEqual(ids)
    expect(frames.map(({ data }) => data.state)).toEqual([...Array(5).fill('RUNNING'), 'COMPLETED'])
    expect(frames.at(-1)?.data.output).toBe('done')
  }
})

test('Last-Event-ID: the stream continues after that event', async () => {
  const { json, call, executions } = await startGateway()
  await json('POST', `${RUN}/async`, 1)
  const id = executions.last
  executions.grow(id, 'COMPLETED', [STARTED, ...TASKS, COMPLETED])
  const follow = async (lastEventId: string) => {
    const headers = { 'last-event-id': lastEventId }
    const frames = await allFrames(await call('GET', `/executions/${id}/events`, { headers }))
    return frames.map((frame) => frame.id)
  }
  expect(await follow('2')).toEqual(['3', '4'])
  expect(await follow('4')).toEqual([])
  expect(await follow('nonsense')).toEqual(['1', '2', '3', '4'])
})

test('Last-Event-ID beyond the log: the stream carries new events', async () => {
  const { json, call, executions } = await startGateway()
  await json('POST', `${RUN}/async`, 1)
  const id = executions.last
  executions.grow(id, 'RUNNING', [STARTED])
  const headers = { 'last-event-id': '99' }
  const frames = allFrames(await call('GET', `/executions/${id}/events`, { headers }))
  await expect.poll(() => executions.calls.log).toBe(1)
  executions.grow(id, 'COMPLETED', [COMPLETED])
  expect((await frames).map((frame) => frame.id)).toEqual(['2'])
})

test('detailed=true: the closing frame carries the whole context', async () => {
  const { json, executions } = await startGateway()
  const response = await json('POST', `${RUN}/stream?detailed=true`, 1)
  const id = executions.last
  executions.grow(id, 'COMPLETED', [STARTED, ...TASKS, COMPLETED])
  const frames = await allFrames(response)
  expect(frames[0]?.data).not.toHaveProperty('events')
  expect(frames.at(-1)?.data).toMatchObject({
    type: 'WORKFLOW_COMPLETED',
    execution_id: id,
    workflow_name: 'hello',
    input: 1,
    output: 'done',
    state: 'COMPLETED',
  })
  expect(frames.at(-1)?.data.events).toHaveLength(4)
})

test('a resume stream: begins at the resume', async () => {
  const { json, executions } = await startGateway()
  await json('POST', `${RUN}/async`, 1)
  const id = executions.last
  executions.grow(id, 'PAUSED', [STARTED, { type: 'WORKFLOW_PAUSED' }])
  const response = await json('POST', `/workflows/default/hello/resume/${id}/stream`, { go: 1 })
  executions.grow(id, 'RUNNING', [{ type: 'WORKFLOW_RESUMED' }])
  executions.grow(id, 'COMPLETED', [COMPLETED])
  expect((await allFrames(response)).map(({ event }) => event)).toEqual([
    'workflow_resumed',
    'workflow_completed',
  ])
})

test('S3: line breaks in values: escaped within the single data line', async () => {
  const { json, call, executions } = await startGateway()
  await json('POST', `${RUN}/async`, 1)
  const id = executions.last
  const value_json = '{\r\n "a":\n"x\\n\\nevent: workflow_completed\\ndata: {}\u2028"}'
  executions.grow(id, 'COMPLETED', [
    { type: 'TASK_STARTED', name: 'a\r\nb', value_json },
    { ...COMPLETED, value_json },
  ])
  const frames = await allFrames(await call('GET', `/executions/${id}/events?detailed=1`))
  expect(frames).toHaveLength(2)
  expect(frames[0]?.data).toMatchObject({ name: 'a\r\nb', value: JSON.parse(value_json) })
  expect(frames[1]?.data.output).toEqual(JSON.parse(value_json))
})
