import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import { createKeySource } from '../src/access/oidc-keys.ts'

type Responder = (res: ServerResponse, req: IncomingMessage) => void

const json =
  (body: unknown): Responder =>
  (res) =>
    res.setHeader('content-type', 'application/json').end(JSON.stringify(body))

/** Starts an issuer with replaceable responses, and a key source for it with a settable clock. */
async function setup({ ttl = 3_600, hosts = [] as string[] } = {}) {
  const { publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig' }
  const state = {
    now: 0,
    requested: [] as string[],
    discovery: json(undefined),
    keys: json({ keys: [{ ...jwk, kid: 'k1' }] }),
    warned: [] as string[],
  }
  const server = createServer((req, res) => {
    state.requested.push(req.url ?? '')
    const respond = req.url === '/keys' ? state.keys : state.discovery
    respond(res, req)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  state.discovery = json({ issuer, jwks_uri: `${issuer}keys` })
  const keys = createKeySource(
    { issuer, jwks_cache_ttl: ttl, jwks_hosts: hosts },
    { now: () => state.now, onError: (error) => state.warned.push(String(error)) },
  )
  const find = async (kid: string) => {
    const token = { payload: '', signature: '', protected: '' }
    try {
      await keys({ alg: 'RS256', kid }, token)
      return 'found'
    } catch (error) {
      return (error as { kind?: string; code?: string }).kind ?? (error as { code: string }).code
    }
  }
  const keySetOf = (...kids: string[]) => json({ keys: kids.map((kid) => ({ ...jwk, kid })) })
  return { state, issuer, find, keySetOf }
}

const UNKNOWN = 'ERR_JWKS_NO_MATCHING_KEY'

test('concurrent lookups: the key set is fetched once per cache time', async () => {
  const { state, find } = await setup({ ttl: 60 })
  expect(await Promise.all(Array.from({ length: 50 }, () => find('k1')))).toEqual(
    Array(50).fill('found'),
  )
  expect(state.requested).toHaveLength(2)
  state.now = 59_999
  expect(await find('k1')).toBe('found')
  expect(state.requested).toHaveLength(2)
  state.now = 60_000
  expect(await find('k1')).toBe('found')
  expect(state.requested).toHaveLength(4)
})

test('N009: a thousand unknown key ids: one fetch in 30 s', async () => {
  const { state, find } = await setup()
  await find('k1')
  for (let i = 0; i < 1_000; i++) expect(await find(`unknown-${i}`)).toBe(UNKNOWN)
  expect(state.requested).toHaveLength(2)
  state.now = 30_000
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => find(`other-${i}`)))
  expect(answers).toEqual(Array(100).fill(UNKNOWN))
  expect(state.requested).toHaveLength(4)
})

test('N026: key rotation: a new key is accepted after 30 s, the withdrawn one refused', async () => {
  const { state, find, keySetOf } = await setup({ ttl: 600 })
  expect(await find('k1')).toBe('found')
  state.keys = keySetOf('k2')
  state.now = 30_000
  expect(await find('k2')).toBe('found')
  expect(await find('k1')).toBe(UNKNOWN)
})

const huge: Responder = (res) => res.end(`{"keys":["${'x'.repeat(2 * 1_048_576)}"]}`)
const elsewhere: Responder = (res) =>
  res.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
const failures: [what: string, respond: Responder][] = [
  ['status 500', (res) => res.writeHead(500).end()],
  ['a response that is no JSON', (res) => res.end('<html>')],
  ['JSON that is no key set', json({ keys: 'none' })],
  ['a response above 1 MiB', huge],
  ['a redirect', elsewhere],
  ['a closed connection', (res) => res.destroy()],
]

test.each(failures)(
  'N027: the issuer answers with %s: unavailable, and one fetch in 5 s',
  async (_, respond) => {
    const { state, find } = await setup()
    state.keys = respond
    for (let i = 0; i < 500; i++) expect(await find('k1')).toBe('unavailable')
    expect(state.requested).toHaveLength(2)
    expect(state.warned).toHaveLength(1)
    state.now = 4_999
    expect(await find('k1')).toBe('unavailable')
    expect(state.requested).toHaveLength(2)
    state.now = 5_000
    await find('k1')
    expect(state.requested).toHaveLength(4)
  },
)

test('a fetch for an unknown key fails: known keys are still found', async () => {
  const { state, find } = await setup()
  await find('k1')
  state.keys = (res) => res.writeHead(500).end()
  state.now = 40_000
  expect(await find('unknown')).toBe('unavailable')
  expect(await find('k1')).toBe('found')
})

test('N027: the issuer fails after the cache time: known keys are found for as long again', async () => {
  const { state, find } = await setup({ ttl: 60 })
  await find('k1')
  state.keys = (res) => res.writeHead(500).end()
  state.now = 60_000
  expect(await Promise.all([find('k1'), find('k1')])).toEqual(['found', 'found'])
  expect(await find('unknown')).toBe('unavailable')
  state.now = 119_999
  expect(await find('k1')).toBe('found')
  state.now = 130_000
  expect(await find('k1')).toBe('unavailable')
})

test('N027: the issuer hangs after the cache time: one fetch delays known keys, no other does', async () => {
  const { state, find } = await setup({ ttl: 60 })
  await find('k1')
  state.keys = (res) => res.writeHead(500).end()
  state.now = 60_000
  await find('k1')
  let answer = () => {}
  state.keys = (res) => {
    answer = () => void res.writeHead(500).end()
  }
  state.now = 70_000
  expect(await find('k1')).toBe('found')
  await expect.poll(() => state.requested).toHaveLength(6)
  expect(await find('k1')).toBe('found')
  answer()
})

test('N026: a key is withdrawn during the cache time: refused after it, also if a fetch had failed', async () => {
  const { state, find, keySetOf } = await setup({ ttl: 60 })
  await find('k1')
  state.keys = keySetOf('k2')
  state.now = 60_000
  expect(await find('k1')).toBe(UNKNOWN)
  state.keys = (res) => res.writeHead(500).end()
  state.now = 120_000
  expect(await find('k2')).toBe('found')
  state.keys = keySetOf('k3')
  state.now = 125_000
  await find('k2')
  await expect.poll(() => find('k2')).toBe(UNKNOWN)
})

test.each([
  ['N029: another issuer', { issuer: 'http://127.0.0.1:1/' }],
  ['N029: the issuer without its slash', (issuer: string) => ({ issuer: issuer.slice(0, -1) })],
  ['N030: keys of another host', { jwks_uri: 'https://keys.example/keys' }],
  ['N030: keys in a file', { jwks_uri: 'file:///etc/passwd' }],
  ['N030: keys of another machine over http', { jwks_uri: 'http://10.0.0.1/keys' }],
  ['no key set', { jwks_uri: undefined }],
])('%s in the discovery document: unavailable, no key set is fetched', async (_, wrong) => {
  const { state, issuer, find } = await setup()
  const changed = typeof wrong === 'function' ? wrong(issuer) : wrong
  state.discovery = json({ issuer, jwks_uri: `${issuer}keys`, ...changed })
  expect(await find('k1')).toBe('unavailable')
  expect(state.requested).toEqual(['/.well-known/openid-configuration'])
})

test('the key set on a host named in the settings: fetched', async () => {
  const { state, issuer, find } = await setup({ hosts: ['localhost'] })
  state.discovery = json({ issuer, jwks_uri: `${issuer.replace('127.0.0.1', 'localhost')}keys` })
  expect(await find('k1')).toBe('found')
})
