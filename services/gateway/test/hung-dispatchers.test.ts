import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

const HANG_MS = 30_000
const OWN = { authorization: 'Bearer session-of-w1' }
const PING = 'event: ping\ndata: {}\n\n'
const CONNECTED = ': connected\n\n'
const GENERATION = 'x-windlass-connection-generation'
const DISPATCH = `event: execution_scheduled\ndata: {"workflow": "${'x'.repeat(100)}"}\n\n`

/** A stand-in for a dispatcher, whose beats can stop. */
async function startDispatcher() {
  const beats = new Set<ServerResponse>()
  /** Number and text of beats received, and the ids with which streams and requests for beats came. */
  const received = { beats: 0, ids: [] as unknown[], text: '' }
  const streams: ServerResponse[] = []
  const state = { isBeating: true, hasBeats: true }
  const server = createServer((req, res) => {
    received.ids.push(req.headers['x-windlass-gateway'])
    req.on('data', (chunk) => {
      received.beats++
      received.text += chunk
    })
    if (req.url !== '/beats') {
      streams.push(res)
      const headers = { 'content-type': 'text/event-stream', [GENERATION]: 7 }
      res.writeHead(200, headers).write(CONNECTED)
    } else if (state.hasBeats) {
      beats.add(res)
      res.writeHead(200).write('.')
    } else res.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const timer = setInterval(() => {
    if (state.isBeating) for (const res of beats) res.write('.')
  }, 50)
  onTestFinished(() => {
    clearInterval(timer)
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, state, beats, streams, received }
}

/** Two dispatchers, a gateway, and the stream of a worker, which one of them holds. */
async function withStream() {
  const all = [await startDispatcher(), await startDispatcher()]
  const urls = all.map(({ url }) => url).join(',')
  const gateway = await startGateway({}, { SVC_SERVICES__DISPATCHER_STREAMS: urls })
  const response = await fetch(`${gateway.url}/workers/w1/connect`, { headers: OWN })
  let text = ''
  const ended = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk)
  })()
  await expect.poll(() => all.flatMap(({ streams }) => streams).length).toBe(1)
  const [holder, other] = all[0]?.streams.length ? all : [...all].reverse()
  if (!holder || !other) return expect.unreachable()
  return { holder, other, ended, received: () => text }
}

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
  const { holder, other, received } = await withStream()
  await expect.poll(() => holder.received.beats, { timeout: HANG_MS }).toBeGreaterThan(1)
  holder.streams[0]?.write(DISPATCH)
  await expect.poll(received).toBe(CONNECTED + DISPATCH)
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
