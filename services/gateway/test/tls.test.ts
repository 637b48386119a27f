import { writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { createAuthority } from '@windlass/testkit/certificates'
import { exposeMetrics } from '@windlass/testkit/exposed-metrics'
import { workerRecord } from '@windlass/testkit/worker-record'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

interface Client {
  ca: string
  cert?: string
  key?: string
  /** Body of the request. */
  body?: string
}

interface Answer {
  status: number | undefined
  body: string
  serial: string
}

/** One request on a connection of its own. */
function get(port: number, path: string, client: Client, headers = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const method = path.includes('pong') || path.endsWith('register') ? 'POST' : 'GET'
    const call = request({ port, path, method, headers, agent: false, ...client }, (response) => {
      const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber
      let body = ''
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode, body, serial }))
    })
    call.on('error', reject)
    call.end(client.body ?? '')
  })
}

async function startWithTls(env: Record<string, string> = {}) {
  const authority = await createAuthority()
  const server = await authority.issue('localhost')
  const gateway = await startGateway(
    { identity: { checkBootstrap: async () => ({ configured: true, valid: true }) } },
    { SVC_SERVER__TLS_CERT: server.certFile, SVC_SERVER__TLS_KEY: server.keyFile, ...env },
  )
  return { authority, server, gateway, port: Number(new URL(gateway.url).port) }
}

test('tls_cert and tls_key: the public port speaks TLS only', async () => {
  const { authority, gateway, port } = await startWithTls()
  const { ca } = authority
  expect(await get(port, '/health', { ca })).toMatchObject({ status: 200 })
  await expect(get(port, '/health', { ca: (await createAuthority()).ca })).rejects.toThrow(
    'certificate',
  )
  await expect(gateway.call('GET', '/health')).rejects.toThrow()
  await gateway.stop()
})

test('certificate files change: new connections use them; invalid files change nothing', async () => {
  const { authority, server, port } = await startWithTls()
  const { ca } = authority
  const serial = async () => (await get(port, '/health', { ca })).serial
  const first = await serial()
  await writeFile(server.certFile, 'no certificate')
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  expect(await serial()).toBe(first)
  await authority.issue('localhost')
  await expect.poll(serial).not.toBe(first)
})

test('an expired certificate: refused by clients, reported and not ready, until the files are replaced', async () => {
  const metric = exposeMetrics()
  const problem = 'windlass_problems{problem="certificate"'
  const authority = await createAuthority()
  const { certFile, keyFile } = await authority.issue('localhost', -1_000)
  const files = { SVC_SERVER__TLS_CERT: certFile, SVC_SERVER__TLS_KEY: keyFile }
  const { url, readiness, logged } = await startGateway({}, files)
  readiness.setServing()
  const health = () => get(Number(new URL(url).port), '/health', { ca: authority.ca })
  const failing = async () => ((await readiness.report()) as { failing?: string[] }).failing ?? []

  await expect(health()).rejects.toThrow('certificate has expired')
  expect(await failing()).toContain('certificate')
  expect(logged()).toMatch(/"problem":"certificate".*the certificate of \[svc.server\] has expired/)
  expect(await metric(problem)).toBe(1)

  await authority.issue('localhost')
  await expect.poll(failing).not.toContain('certificate')
  expect(logged()).toMatch(/"problem":"certificate".*the problem has ended/)
  expect(await metric(problem)).toBe(0)
  expect(await health()).toMatchObject({ status: 200 })
})

test('client_ca: worker routes need a certificate of it in addition to the token', async () => {
  const workers = await createAuthority()
  const { authority, port } = await startWithTls({ SVC_SERVER__CLIENT_CA: workers.caFile })
  const { ca } = authority
  const { cert, key } = await workers.issue('worker')
  const foreign = await authority.issue('stranger')
  const refused = { status: 403, body: expect.stringContaining('client certificate') }
  const bearer = { authorization: 'Bearer anything' }
  for (const path of ['/workers/register', '/workers/w/pong', '/workers/w/connect']) {
    expect(await get(port, path, { ca }, bearer)).toMatchObject(refused)
    expect(await get(port, path, { ca, ...foreign }, bearer)).toMatchObject(refused)
    const { body } = await get(port, path, { ca, cert, key }, bearer)
    expect(body).not.toContain('client certificate')
  }
  expect(await get(port, '/health', { ca })).toMatchObject({ status: 200 })
})

interface NamedCertificate {
  names: 'equal' | 'prefix' | 'any'
  issued: string
  name: string
  valid: boolean
}

test.each<[string, NamedCertificate]>([
  ['its own worker', { names: 'equal', issued: 'w1', name: 'w1', valid: true }],
  ['another worker', { names: 'equal', issued: 'w1', name: 'w2', valid: false }],
  ['a worker whose name it begins', { names: 'equal', issued: 'w1', name: 'w1-a', valid: false }],
  ['a worker of its team', { names: 'prefix', issued: 'team-a', name: 'team-a-1', valid: true }],
  ['its worker, by prefix', { names: 'prefix', issued: 'team-a', name: 'team-a', valid: true }],
  ['another team', { names: 'prefix', issued: 'team-a', name: 'team-ab-1', valid: false }],
  ['another worker, unset', { names: 'any', issued: 'w1', name: 'w2', valid: true }],
])('client_cert_names: the certificate of %s: decides', async (_, named) => {
  const { names, issued, name, valid } = named
  const workers = await createAuthority()
  const { authority, port } = await startWithTls({
    SVC_SERVER__CLIENT_CA: workers.caFile,
    SVC_SERVER__CLIENT_CERT_NAMES: names,
  })
  const client = { ca: authority.ca, ...(await workers.issue(issued)) }
  const refused = `does not name the worker '${name}'`
  for (const path of [`/workers/${name}/pong`, `/workers/${name}/connect`]) {
    const { body } = await get(port, path, client, { authorization: `Bearer session-of-${name}` })
    expect(body.includes(refused)).toBe(!valid)
  }
  const headers = { authorization: 'Bearer boot', 'content-type': 'application/json' }
  const record = JSON.stringify(workerRecord(name, { labels: {}, packages: [], capacity: 1 }))
  const sending = { ...client, body: record }
  const { status, body } = await get(port, '/workers/register', sending, headers)
  expect([status === 403, body.includes(refused)]).toEqual([!valid, !valid])
})

test.each([
  ['a certificate without a key', { SVC_SERVER__TLS_CERT: '/nonexistent' }],
  ['client_ca without a certificate', { SVC_SERVER__CLIENT_CA: '/nonexistent' }],
  ['missing files', { SVC_SERVER__TLS_CERT: '/nonexistent', SVC_SERVER__TLS_KEY: '/nonexistent' }],
])('%s: the gateway does not start', async (_, env: Record<string, string>) => {
  await expect(startGateway({}, env)).rejects.toThrow('[svc.server]')
})
