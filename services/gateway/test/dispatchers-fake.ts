import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

export const HANG_MS = 30_000
export const OWN = { authorization: 'Bearer session-of-w1' }
export const PING = 'event: ping\ndata: {}\n\n'
export const CONNECTED = ': connected\n\n'
const GENERATION = 'x-windlass-connection-generation'
export const DISPATCH = `event: execution_scheduled\ndata: {"workflow": "${'x'.repeat(100)}"}\n\n`

/** A stand-in for a dispatcher, whose beats can stop. */
export async function startDispatcher() {
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
  /** Refuses new connections. */
  const refuse = () => void server.close()
  return { url, state, beats, streams, received, refuse }
}

/** Two dispatchers, a gateway, and the stream of a worker, which one of them holds. */
export async function withStream() {
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
  /** The received text without the marks of a machine that is busy. */
  const unmarked = () => text.replaceAll(/: (?:delayed|on time)\n\n/g, '')
  return { gateway, holder, other, ended, received: () => text, unmarked }
}
