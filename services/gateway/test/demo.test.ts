import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

/** The listener of `npm start`, as a fake; keeps the requests. */
async function openControl(status: number, body: string) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.writeHead(status).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { seen, SVC_CONSOLE__DEMO_URL: `http://127.0.0.1:${port}/secret` }
}

const PATH = '/demo/crash-worker'

test('the demonstration of npm start: its workers are killed, and /me says that they can be', async () => {
  const { seen, ...env } = await openControl(200, '{"killed":2}')
  const { call } = await startGateway({}, env)
  const response = await call('POST', PATH)
  expect([response.status, await response.json()]).toEqual([200, { killed: 2 }])
  expect(seen).toEqual(['POST /secret'])
  expect(await (await call('GET', '/me')).json()).toMatchObject({ features: { demo: true } })
})

test('a server without the demonstration: 404', async () => {
  const { call } = await startGateway()
  expect((await call('POST', PATH)).status).toBe(404)
})

test('authentication is on: 401 without a key, and no worker is killed', async () => {
  const { seen, ...env } = await openControl(200, '{"killed":1}')
  const { call } = await startGateway({}, { ...env, SVC_SECURITY__AUTH__ENABLED: 'true' })
  expect((await call('POST', PATH)).status).toBe(401)
  expect(seen).toEqual([])
})

test('npm start does not answer as expected: 503', async () => {
  const { seen: _, ...env } = await openControl(500, '{}')
  const { call } = await startGateway({}, env)
  expect((await call('POST', PATH)).status).toBe(503)
})
