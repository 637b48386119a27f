import { expect, test } from 'vitest'
import {
  CONNECTED,
  DISPATCH,
  HANG_MS,
  OWN,
  PING,
  startDispatcher,
  withStream,
} from './dispatchers-fake.ts'
import { startGateway } from './gateway-fixture.ts'

test('a dispatcher hangs: the stream of its worker continues from another one', async () => {
  const { holder, other, ended, received } = await withStream()
  await expect.poll(() => holder.beats.size, { timeout: HANG_MS }).toBe(1)
  holder.streams[0]?.write(PING)
  holder.state.isBeating = false
  await expect.poll(() => other.streams.length, { timeout: HANG_MS }).toBe(1)
  await expect.poll(() => holder.streams[0]?.destroyed, { timeout: HANG_MS }).toBe(true)
  other.streams[0]?.end(PING)
  await ended
  expect(received()).toBe(`: connected\n\n${PING}: connected\n\n${PING}`)
})

test('a dispatcher hangs within a frame: the stream waits for it', async () => {
  const { holder, other, ended, received } = await withStream()
  await expect.poll(() => holder.beats.size, { timeout: HANG_MS }).toBe(1)
  holder.streams[0]?.write('event: execution_scheduled\nda')
  await expect.poll(received).toContain('da')
  holder.state.isBeating = false
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  holder.streams[0]?.end('ta: {}\n\n')
  await ended
  expect(received()).toBe(': connected\n\nevent: execution_scheduled\ndata: {}\n\n')
  expect(other.streams).toEqual([])
})

test('a dispatcher of an earlier release, without beats: keeps its streams', async () => {
  const all = [await startDispatcher(), await startDispatcher()]
  for (const { state } of all) state.hasBeats = false
  const urls = all.map(({ url }) => url).join(',')
  const gateway = await startGateway({}, { SVC_SERVICES__DISPATCHER_STREAMS: urls })
  const response = await fetch(`${gateway.url}/workers/w1/connect`, { headers: OWN })
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const streams = all.flatMap((one) => one.streams)
  expect(streams).toHaveLength(1)
  streams[0]?.end(PING)
  expect(await response.text()).toBe(`: connected\n\n${PING}`)
})

test('a gateway with worker streams: sends beats to each dispatcher, under the id of its streams', async () => {
  const { holder, other } = await withStream()
  for (const { received } of [holder, other])
    await expect.poll(() => received.beats, { timeout: HANG_MS }).toBeGreaterThan(4)
  const ids = new Set([holder, other].flatMap(({ received }) => received.ids))
  expect([...ids]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)])
})

test('a frame for a worker: acknowledged to its dispatcher before the next beat', async () => {
  const { holder, other, unmarked } = await withStream()
  await expect.poll(() => holder.received.beats, { timeout: HANG_MS }).toBeGreaterThan(1)
  holder.streams[0]?.write(DISPATCH)
  await expect.poll(unmarked).toBe(CONNECTED + DISPATCH)
  const bytes = CONNECTED.length + DISPATCH.length
  await expect.poll(() => holder.received.text).toMatch(new RegExp(`^[.]+7 ${bytes} w1\n`))
  expect(other.received.text).not.toContain('w1')
})

test('a gateway that did not run for a while: marks the frames that it reads then as delayed', async () => {
  const { holder, received } = await withStream()
  await expect.poll(() => holder.beats.size, { timeout: HANG_MS }).toBe(1)
  holder.streams[0]?.write(DISPATCH)
  await expect.poll(received).toBe(CONNECTED + DISPATCH)
  holder.streams[0]?.write(DISPATCH)
  const until = performance.now() + 1_500
  while (performance.now() < until);
  const delayed = `: delayed\n\n${DISPATCH}`
  await expect.poll(received, { timeout: HANG_MS }).toBe(CONNECTED + DISPATCH + delayed)
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  holder.streams[0]?.write(DISPATCH)
  await expect
    .poll(received, { timeout: HANG_MS })
    .toBe(`${CONNECTED}${DISPATCH}${delayed}: on time\n\n${DISPATCH}`)
})
