import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import { createKeySource } from '../src/access/oidc-keys.ts'

type Answer = (res: ServerResponse, req: IncomingMessage) => void

const json =
  (body: unknown): Answer =>
  (res) =>
    res.setHeader('content-type', 'application/json').end(JSON.stringify(body))

/** An issuer with changeable responses, a key source for it, and the clock of that source. */
async function setup({ ttl = 3_600, hosts = [] as string[] } = {}) {
  const { publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig' }
  const state = {
    now: 0,
    asked: [] as string[],
    discovery: json(undefined),
    keys: json({ keys: [{ ...jwk, kid: 'k1' }] }),
    warned: [] as string[],
  }
  const server = createServer((req, res) => {
    state.asked.push(req.url ?? '')
    const answer = req.url === '/keys' ? state.keys : state.discovery
    answer(res, req)
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
  const carrying = (...kids: string[]) => json({ keys: kids.map((kid) => ({ ...jwk, kid })) })
  return { state, issuer, find, carrying }
}

const UNKNOWN = 'ERR_JWKS_NO_MATCHING_KEY'

test('concurrent tokens: the keys are fetched once per TTL', async () => {
  const { state, find } = await setup({ ttl: 60 })
  expect(await Promise.all(Array.from({ length: 50 }, () => find('k1')))).toEqual(
    Array(50).fill('found'),
  )
  expect(state.asked).toHaveLength(2)
  state.now = 59_999
  expect(await find('k1')).toBe('found')
  expect(state.asked).toHaveLength(2)
  state.now = 60_000
  expect(await find('k1')).toBe('found')
  expect(state.asked).toHaveLength(4)
})

test('N009: a thousand unknown key ids: one fetch in 30 s', async () => {
  const { state, find } = await setup()
  await find('k1')
  for (let i = 0; i < 1_000; i++) expect(await find(`strange-${i}`)).toBe(UNKNOWN)
  expect(state.asked).toHaveLength(2)
  state.now = 30_000
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => find(`other-${i}`)))
  expect(answers).toEqual(Array(100).fill(UNKNOWN))
  expect(state.asked).toHaveLength(4)
})

test('N026: key rotation: a new key is accepted within 30 s, a withdrawn one refused after the TTL', async () => {
  const { state, find, carrying } = await setup({ ttl: 600 })
  expect(await find('k1')).toBe('found')
  state.keys = carrying('k2')
  state.now = 30_000
  expect(await find('k2')).toBe('found')
  expect(await find('k1')).toBe(UNKNOWN)
})

const huge: Answer = (res) => res.end(`{"keys":["${'x'.repeat(2 * 1_048_576)}"]}`)
const elsewhere: Answer = (res) =>
  res.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
const failures: [what: string, answer: Answer][] = [
  ['500', (res) => res.writeHead(500).end()],
  ['text that is not JSON', (res) => res.end('<html>')],
  ['JSON that is no key set', json({ keys: 'none' })],
  ['more than a mebibyte', huge],
  ['a redirection', elsewhere],
  ['nothing', (res) => res.destroy()],
]

test.each(failures)(
  'N027: the key endpoint answers %s: unavailable, and one fetch per 5 s',
  async (_, answer) => {
    const { state, find } = await setup()
    state.keys = answer
    for (let i = 0; i < 500; i++) expect(await find('k1')).toBe('unavailable')
    expect(state.asked).toHaveLength(2)
    expect(state.warned).toHaveLength(1)
    state.now = 4_999
    expect(await find('k1')).toBe('unavailable')
    expect(state.asked).toHaveLength(2)
    state.now = 5_000
    await find('k1')
    expect(state.asked).toHaveLength(4)
  },
)

test('a failed fetch for an unknown key: tokens of known keys stay valid', async () => {
  const { state, find } = await setup()
  await find('k1')
  state.keys = (res) => res.writeHead(500).end()
  state.now = 40_000
  expect(await find('strange')).toBe('unavailable')
  expect(await find('k1')).toBe('found')
})

test.each([
  ['N029: another issuer', { issuer: 'http://127.0.0.1:1/' }],
  ['N029: the issuer without its slash', (issuer: string) => ({ issuer: issuer.slice(0, -1) })],
  ['N030: keys of another host', { jwks_uri: 'https://keys.example/keys' }],
  ['N030: keys in a file', { jwks_uri: 'file:///etc/passwd' }],
  ['N030: keys of another machine over http', { jwks_uri: 'http://10.0.0.1/keys' }],
  ['no keys', { jwks_uri: undefined }],
])('%s in the discovery document: not used', async (_, wrong) => {
  const { state, issuer, find } = await setup()
  const changed = typeof wrong === 'function' ? wrong(issuer) : wrong
  state.discovery = json({ issuer, jwks_uri: `${issuer}keys`, ...changed })
  expect(await find('k1')).toBe('unavailable')
  expect(state.asked).toEqual(['/.well-known/openid-configuration'])
})

test('keys on a configured host: used', async () => {
  const { state, issuer, find } = await setup({ hosts: ['localhost'] })
  state.discovery = json({ issuer, jwks_uri: `${issuer.replace('127.0.0.1', 'localhost')}keys` })
  expect(await find('k1')).toBe('found')
})
