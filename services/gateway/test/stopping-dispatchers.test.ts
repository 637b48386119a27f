import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { CONNECTED, DISPATCH, HANG_MS, PING, withStream } from './dispatchers-fake.ts'

/** Ends the stream of a worker as a dispatcher does. */
function endStream(response: ServerResponse | undefined, reason: string): void {
  response?.addTrailers({ 'x-windlass-end': reason })
  response?.end()
}

test('S7: a dispatcher stops: the stream of its worker continues from another one', async () => {
  const { holder, other, ended, unmarked } = await withStream()
  holder.streams[0]?.write(DISPATCH)
  endStream(holder.streams[0], 'stopping')
  await expect.poll(() => other.streams.length, { timeout: HANG_MS }).toBe(1)
  other.streams[0]?.end(PING)
  await ended
  expect(unmarked()).toBe(CONNECTED + DISPATCH + CONNECTED + PING)
})

test('S7: both dispatchers stop: the stream moves, then ends', async () => {
  const { holder, other, ended, unmarked } = await withStream()
  holder.refuse()
  endStream(holder.streams[0], 'stopping')
  await expect.poll(() => other.streams.length, { timeout: HANG_MS }).toBe(1)
  endStream(other.streams[0], 'stopping')
  await ended
  expect(unmarked()).toBe(CONNECTED + CONNECTED)
})

test.each(['evicted', 'superseded', 'stalled', 'buffer_overflow'])(
  'a dispatcher ends a stream as %s: the worker has to reconnect',
  async (reason) => {
    const { holder, other, ended, unmarked } = await withStream()
    endStream(holder.streams[0], reason)
    await ended
    expect(unmarked()).toBe(CONNECTED)
    expect(other.streams).toEqual([])
  },
)

test('S7: the gateway stops: the worker gets the frames that are on their way, and a comment', async () => {
  const { gateway, holder, other, ended, unmarked } = await withStream()
  await expect.poll(() => holder.received.beats, { timeout: HANG_MS }).toBeGreaterThan(1)
  const stopped = gateway.stop()
  await expect.poll(() => holder.received.text, { timeout: HANG_MS }).toMatch(/leave 7 w1\n/)
  holder.streams[0]?.write(DISPATCH)
  endStream(holder.streams[0], 'gateway_stopping')
  await ended
  await stopped
  expect(unmarked()).toBe(`${CONNECTED}${DISPATCH}: stopping\n\n`)
  expect(other.streams).toEqual([])
})

test('the gateway stops, and the dispatcher does not end the stream: cut off within seconds', async () => {
  const { gateway, holder, ended, unmarked } = await withStream()
  await expect.poll(() => holder.received.beats, { timeout: HANG_MS }).toBeGreaterThan(1)
  await gateway.stop()
  await ended
  expect(unmarked()).toBe(CONNECTED)
})
