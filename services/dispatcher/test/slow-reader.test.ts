import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type EndReason, WorkerStream } from '../src/engine/worker-stream.ts'
import { startDispatchers } from './dispatcher-fixture.ts'
import { anyRequirement } from './samples.ts'
import { openStream } from './worker-fake.ts'

const MIB = 2 ** 20

/** Opens one stream without a dispatcher, with a reader. */
async function singleStream(stall_ms: number) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const requested = once(server, 'request')
  const opening = openStream((server.address() as AddressInfo).port, 'w')
  const [, response] = await requested
  const reasons: EndReason[] = []
  const options = { ping_ms: 60_000, stall_ms }
  const stream = new WorkerStream(response, options, (reason) => reasons.push(reason))
  return { stream, reader: await opening, reasons }
}

const frameOf = (bytes: number) => `data: ${'x'.repeat(bytes)}\n\n`

test('reader stops reading: closed after stall_ms without progress', async () => {
  const { stream, reader, reasons } = await singleStream(300)
  reader.stall()
  stream.send(frameOf(7 * MIB))
  expect(stream.isWritable).toBe(false)
  expect(reasons).toEqual([])
  await expect.poll(() => reasons).toEqual(['stalled'])
})

test('reader behind by more than the maximum: closed at the next frame', async () => {
  const { stream, reader, reasons } = await singleStream(60_000)
  reader.stall()
  stream.send(frameOf(30 * MIB))
  expect(reasons).toEqual([])
  stream.send(frameOf(1))
  expect(reasons).toEqual(['buffer_overflow'])
})

test('frames larger than the maximum: complete for a reader that reads', async () => {
  const { stream, reader, reasons } = await singleStream(5_000)
  stream.send(frameOf(20 * MIB), frameOf(3))
  await expect.poll(() => reader.frames.length).toBe(2)
  expect(reader.frames[0]?.data).toHaveLength(20 * MIB)
  expect(stream.isWritable).toBe(true)
  stream.end('stopping')
  await expect.poll(() => reader.ended).toBe(true)
  expect(reasons).toEqual(['stopping'])
})

test('stream ended: frames sent before still arrive', async () => {
  const { stream, reader } = await singleStream(5_000)
  stream.send(frameOf(5 * MIB), frameOf(4))
  stream.end('superseded')
  await expect.poll(() => reader.ended).toBe(true)
  expect(reader.frames.map(({ data }) => data?.length)).toEqual([5 * MIB, 4])
})

test('S4: worker stops reading: it gets no more work, others get theirs', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const [slow, fast] = [name(), name()]
  const stalled = await join({ name: slow, max_concurrent_executions: 0, labels: { slow: 'yes' } })
  stalled.stream.stall()
  const big = executions.require({ ...anyRequirement, affinity: { slow: 'yes' } })
  const input_json = JSON.stringify('x'.repeat(12 * MIB))
  executions.queue(big, { input_json })
  executions.queue(big, { input_json })
  publishReady(big)
  await expect.poll(() => executions.held.get(slow)).toHaveLength(2)

  const { stream } = await join({ name: fast, labels: {} })
  const small = executions.require(anyRequirement)
  executions.queue(small)
  publishReady(small)
  await expect
    .poll(() => stream.frames.filter(({ event }) => event === 'execution_scheduled'))
    .toHaveLength(1)

  executions.queue(big)
  publishReady(big)
  const polls = executions.listCalls.length
  await expect.poll(() => executions.listCalls.length).toBeGreaterThan(polls)
  expect(executions.held.get(slow)).toHaveLength(2)
  expect(executions.held.get(fast)).toHaveLength(1)
})
