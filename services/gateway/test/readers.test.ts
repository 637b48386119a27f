import { connect } from 'node:net'
import { Progress } from '@windlass/proto/windlass/signals/v1/signals'
import { unavailable } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { allFrames, framesOf } from './frames.ts'
import { startGateway } from './gateway-fixture.ts'

const RUN = '/workflows/default/hello/run'
const STARTED = { type: 'WORKFLOW_STARTED' }
const TASKS = [{ type: 'TASK_STARTED' }, { type: 'TASK_COMPLETED' }]
const COMPLETED = { type: 'WORKFLOW_COMPLETED', value_json: '"done"' }

test('S2: progress frames: in order, under the id of the last event, at every reader', async () => {
  const { json, call, bus, executions } = await startGateway()
  const first = framesOf(await json('POST', `${RUN}/stream`, 1))
  const id = executions.last
  const second = framesOf(await call('GET', `/executions/${id}/events`))
  executions.grow(id, 'RUNNING', [STARTED])
  for (const frames of [first, second])
    expect((await frames.next()).value).toMatchObject({ id: '1', event: 'workflow_started' })
  for (const n of [1, 2, 3])
    bus.publishBestEffort(
      `executions.${id}.progress`,
      Progress.encode({
        execution_id: id,
        items: [{ task_id: 't_1', task_name: 't', value_json: `{"n":${n}}`, time: 'now' }],
      }).finish(),
    )
  for (const frames of [first, second])
    for (const n of [1, 2, 3])
      expect((await frames.next()).value).toMatchObject({
        id: '1',
        event: 'task_progress',
        data: {
          execution_id: id,
          state: 'RUNNING',
          type: 'TASK_PROGRESS',
          name: 't',
          value: { n },
        },
      })
  await Promise.all([first.return(), second.return()])
})

test('S2: a hundred readers of one execution: each gets every event in order', async () => {
  const { json, call, executions } = await startGateway()
  await json('POST', `${RUN}/async`, 1)
  const id = executions.last
  const readers = Array.from({ length: 100 }, async () =>
    allFrames(await call('GET', `/executions/${id}/events`)),
  )
  for (let i = 0; i < 20; i++) executions.grow(id, 'RUNNING', TASKS)
  executions.grow(id, 'COMPLETED', [COMPLETED])
  const all = Array.from({ length: 41 }, (_, i) => String(i + 1))
  for (const frames of await Promise.all(readers))
    expect(frames.map((frame) => frame.id)).toEqual(all)
})

test('S4: a reader that does not read: closed at the buffer limit, others unaffected', async () => {
  const { url, json, call, executions } = await startGateway()
  await json('POST', `${RUN}/async`, 1)
  const id = executions.last
  const stalled = connect(Number(new URL(url).port), '127.0.0.1')
  stalled.write(`GET /executions/${id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  await new Promise((resolve) => stalled.once('readable', resolve))
  const other = framesOf(await call('GET', `/executions/${id}/events`))
  const value_json = JSON.stringify('x'.repeat(100_000))
  const begun = performance.now()
  let sent = 0
  // More than the kernel buffers, and for longer than a slow reader is tolerated.
  while (sent < 200 || performance.now() - begun < 3_500) {
    executions.grow(id, 'RUNNING', [{ type: 'TASK_COMPLETED', value_json }])
    sent++
    expect((await other.next()).value?.id).toBe(String(sent))
  }
  let taken = 0
  stalled.on('data', (chunk) => {
    taken += chunk.length
  })
  await new Promise((resolve) => stalled.once('close', resolve).once('error', resolve))
  expect(taken).toBeLessThan(sent * 100_000)
  executions.grow(id, 'COMPLETED', [COMPLETED])
  expect((await other.next()).value?.event).toBe('workflow_completed')
})

test('the gateway stops: its streams end', async () => {
  const { json, stop } = await startGateway()
  const response = await json('POST', `${RUN}/stream`, 1)
  const frames = allFrames(response)
  await stop()
  expect(await frames).toEqual([])
})

test('the log cannot be read: the stream is cut off, not ended', async () => {
  let isAway = false
  const { json, executions } = await startGateway({
    executions: {
      async log() {
        if (isAway) throw unavailable('away')
        return {
          execution: executions.rows.get(executions.last)?.execution,
          entries: [],
          more: false,
        }
      },
    },
  })
  const response = await json('POST', `${RUN}/stream`, 1)
  executions.signals.omit = true
  isAway = true
  executions.grow(executions.last, 'RUNNING', [STARTED])
  await expect(response.text()).rejects.toThrow()
})
