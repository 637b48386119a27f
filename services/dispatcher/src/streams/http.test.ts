import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { Colocation } from '@windlass/runtime/process/colocation'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { GatewayWatch } from '../engine/gateway-watch.ts'
import { createStreamServer, listen } from './http.ts'

const GATEWAY = 'token of a gateway'

async function startServer() {
  const colocation = new Colocation(['dispatcher', 'gateway'])
  const authenticateService = (token: string) => (token === GATEWAY ? 'gateway' : undefined)
  const identity = { colocation, authenticateService } as ServiceIdentity
  const gateways = new GatewayWatch({
    onHung() {},
    onDelivered() {},
    onLeave() {},
    onRecovered() {},
  })
  const server = createStreamServer(
    {
      async open({ name }, response) {
        response.writeHead(200, { trailer: 'x-windlass-end' })
        response.write(`frame for ${name}`)
        setImmediate(() => response.end(' and its end'))
        return 'opened'
      },
      gateways,
      identity,
    },
    pino({ level: 'silent' }),
  )
  await listen(server, { host: '127.0.0.1', port: 0 }, identity)
  const stop = () => {
    gateways.stop()
    server.close()
  }
  return { colocation, stop }
}

/** Requests the stream of a worker on a connection within this process. */
async function get({ connectToStreams }: Colocation, token: string) {
  const connection = connectToStreams?.()
  if (!connection) return undefined
  const headers = { authorization: `Bearer ${token}` }
  const call = request('http://localhost/workers/w/connect', {
    headers,
    createConnection: () => connection,
  }).end()
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  return { status: response.statusCode, body: (await response.toArray()).join('') }
}

test('a connection within the process: authenticated and answered as one with a socket, until the server stops', async () => {
  const { colocation, stop } = await startServer()
  expect(await get(colocation, GATEWAY)).toEqual({ status: 200, body: 'frame for w and its end' })
  expect(await get(colocation, 'another token')).toMatchObject({ status: 401 })
  stop()
  expect(await get(colocation, GATEWAY)).toBeUndefined()
})
