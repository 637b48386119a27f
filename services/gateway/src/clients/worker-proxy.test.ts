import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { RequestContext } from '../http/request-context.ts'
import { WorkerProxy } from './worker-proxy.ts'

const FRAME = `event: execution_scheduled\ndata: {"workflow": "${'x'.repeat(100)}"}\n\n`
const PING = 'event: ping\ndata: {}\n\n'

/** A proxy whose steps are recorded. `suspend` is called after each; it may change `isDelayed`. */
function startProxy(suspend: (step: string, state: { isDelayed: boolean }) => void = () => {}) {
  const steps: string[] = []
  const state = { isDelayed: false }
  const record = (step: string) => {
    steps.push(step)
    suspend(step, state)
  }
  const upstream = new PassThrough()
  const response = Object.assign(upstream, { statusCode: 200, headers: {}, trailers: {} })
  const res = new PassThrough()
  const answer = Object.assign(res, { writeHead() {}, flushHeaders() {}, setTimeout() {} })
  const write = res.write.bind(res)
  res.write = (chunk: Buffer | string) => {
    record(`write ${chunk.length > PING.length ? 'frame' : String(chunk).trim()}`)
    return write(chunk)
  }
  const ctx = { res: answer, id: 'r1', signal: new AbortController().signal }
  const proxy = new WorkerProxy(
    'http://dispatcher',
    response as unknown as IncomingMessage,
    ctx as unknown as RequestContext,
    {
      worker_name: 'w1',
      stalledMs: 1_000,
      isDelayed: () => {
        const { isDelayed } = state
        record('examine')
        return isDelayed
      },
      acknowledge: ({ acknowledgedBytes }) => record(`acknowledge ${acknowledgedBytes}`),
      onDispatcherStopping() {},
    },
  )
  void proxy.copy()
  res.resume()
  return { steps, send: (text: string) => upstream.write(text) }
}

test('a frame for a worker: acknowledged, then examined for a delay, then written', async () => {
  const { steps, send } = startProxy()
  send(FRAME)
  await expect.poll(() => steps).toEqual([`acknowledge ${FRAME.length}`, 'examine', 'write frame'])
})

test('a ping for a worker: not acknowledged', async () => {
  const { steps, send } = startProxy()
  send(PING)
  await expect.poll(() => steps).toEqual(['examine', `write ${PING.trim()}`])
})

test('a suspension after the acknowledgement: the frame is marked as delayed', async () => {
  const { steps, send } = startProxy((step, state) => {
    if (step.startsWith('acknowledge')) state.isDelayed = true
  })
  send(FRAME)
  await expect.poll(() => steps.at(-1)).toBe('write frame')
  expect(steps.slice(2)).toEqual(['write : delayed', 'write frame'])
})

test('a suspension after the examination: the frame was acknowledged before it', async () => {
  const { steps, send } = startProxy((step, state) => {
    if (step === 'examine') state.isDelayed = true
  })
  send(FRAME)
  await expect.poll(() => steps.at(-1)).toBe('write frame')
  expect(steps).toEqual([`acknowledge ${FRAME.length}`, 'examine', 'write frame'])
})
