import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ReportPresenceRequest } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

const OWN = { authorization: 'Bearer session-of-w1' }

/** Starts a gateway with one dispatcher, and opens the stream of `w1` through both. */
async function openWorkerStream(headers: Record<string, string> = {}) {
  const reports: ReportPresenceRequest[] = []
  const upstreams: ServerResponse[] = []
  const dispatcher = createServer((_, res) => {
    upstreams.push(res)
    res.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).flushHeaders()
  }).listen(0, '127.0.0.1')
  await once(dispatcher, 'listening')
  onTestFinished(() => {
    dispatcher.closeAllConnections()
    dispatcher.close()
  })
  const { port } = dispatcher.address() as AddressInfo
  const gateway = await startGateway(
    {
      fleet: {
        async reportPresence(report) {
          reports.push(report)
          return {}
        },
        pongs: async () => ({ refusals: [] }),
      },
    },
    { SVC_SERVICES__DISPATCHER_STREAMS: `http://127.0.0.1:${port}` },
  )
  const leave = new AbortController()
  const response = await fetch(`${gateway.url}/workers/w1/connect`, {
    headers: OWN,
    signal: leave.signal,
  })
  const ended = response.text().catch(() => '')
  return {
    gateway,
    leave: () => leave.abort(),
    ended,
    upstream: upstreams[0] ?? expect.unreachable(),
    closed: () => reports.flatMap((report) => report.closed),
    active: () => reports.flatMap((report) => report.active),
  }
}

const GENERATION = { 'x-windlass-connection-generation': '7' }
/** Longer than a report takes. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 500))

test('a worker closes its connection: reported with the generation of its stream', async () => {
  const { leave, closed } = await openWorkerStream(GENERATION)
  leave()
  await expect.poll(closed).toMatchObject([{ name: 'w1', connection_generation: 7 }])
})

test.each([
  ['ends the stream', (res: ServerResponse) => res.end()],
  ['dies', (res: ServerResponse) => res.destroy()],
])('the dispatcher %s: not reported', async (_, end) => {
  const { upstream, ended, closed } = await openWorkerStream(GENERATION)
  end(upstream)
  await ended
  await settle()
  expect(closed()).toEqual([])
})

test('the gateway stops: not reported', async () => {
  const { gateway, ended, closed } = await openWorkerStream(GENERATION)
  await gateway.stop()
  await ended
  await settle()
  expect(closed()).toEqual([])
})

test('a dispatcher that does not name the generation: not reported', async () => {
  const { leave, closed } = await openWorkerStream()
  leave()
  await settle()
  expect(closed()).toEqual([])
})

test('requests of a worker: reported once per interval', async () => {
  const { gateway, active } = await openWorkerStream(GENERATION)
  for (let i = 0; i < 5; i++) {
    const response = await gateway.call('POST', '/workers/w1/pong', { headers: OWN })
    expect(response.status).toBe(200)
  }
  await expect.poll(active).toMatchObject([{ name: 'w1', session_id: '5'.repeat(32) }])
})
