import { once } from 'node:events'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { RUN } from './assert-response.ts'
import { startGateway, workflow } from './gateway-fixture.ts'
import { fakeSecrets } from './secrets-fake.ts'

/** Starts a gateway with a stored secret; `uploaded` and `executions` record what reaches the services. */
async function setup(isAuthOn: boolean, env: Record<string, string> = {}) {
  const uploaded: string[] = []
  const secrets = fakeSecrets('Secret')
  secrets.values.set('s', '"canary"')
  const analyze = async () => ({ workflows: [workflow()] })
  const register = async ({ source }: { source: Buffer }) => {
    uploaded.push(source.toString())
    return analyze()
  }
  const made = await startGateway(
    {
      catalog: { analyze, register },
      secrets: secrets.handlers,
      scheduler: { reconcile: async () => ({}) },
    },
    { SVC_SECURITY__AUTH__ENABLED: String(isAuthOn), ...env },
  )
  return { ...made, uploaded }
}

type Headers = Record<string, string>

/** Sends a request with headers that fetch does not allow to set. */
async function send(url: string, what: string, headers: Headers = {}, body?: string) {
  const [method, path] = what.split(' ')
  const sent = request(url + path, { method, headers, agent: false }).end(body)
  const [response] = await once(sent, 'response')
  let text = ''
  response.setEncoding('utf8')
  for await (const chunk of response) text += chunk
  return { status: response.statusCode as number, headers: response.headers as Headers, text }
}

const EVIL = { origin: 'https://evil.example' }
const FORM = { 'content-type': 'multipart/form-data; boundary=b' }
const UPLOAD =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="w.py"\r\n\r\nprint(1)\r\n--b--\r\n'

const attacks: [attack: string, what: string, headers: Headers, body?: string][] = [
  ['CSRF: a form uploads a workflow', 'POST /workflows', { ...EVIL, ...FORM }, UPLOAD],
  ['CSRF: fetch without a content type runs a workflow', `POST ${RUN}`, EVIL, '{}'],
  ['CSRF: a text/plain form', `POST ${RUN}`, { ...EVIL, 'content-type': 'text/plain' }, '{}'],
  ['CSRF: a sandboxed page', `POST ${RUN}`, { origin: 'null' }],
  ['CSRF: another port of the same host', `POST ${RUN}`, { origin: 'http://127.0.0.1:1' }],
  ['CSRF: a cross-site request', `POST ${RUN}`, { 'sec-fetch-site': 'cross-site' }],
  ['CSRF: a same-site request', `POST ${RUN}`, { 'sec-fetch-site': 'same-site' }],
  ['CSRF: an image', 'GET /workers/w/connect', { 'sec-fetch-site': 'cross-site' }],
  ['CSRF: a navigation', 'GET /docs', { 'sec-fetch-site': 'cross-site' }],
  ['CORS: a read', 'GET /admin/secrets/s', EVIL],
  [
    'CORS: a preflight',
    'OPTIONS /admin/secrets',
    { ...EVIL, 'access-control-request-method': 'POST' },
  ],
  ['CORS: a preflight of an unknown path', 'OPTIONS /nope', EVIL],
  ['an unknown path', 'GET /nope', EVIL],
  ['HEAD', 'HEAD /workflows', EVIL],
  ['WebSocket', 'GET /docs', { ...EVIL, connection: 'upgrade', upgrade: 'websocket' }],
  ['DNS rebinding: a secret is read', 'GET /admin/secrets/s', { host: 'evil.example:8000' }],
  [
    'DNS rebinding: a run with the own origin of the rebound name',
    `POST ${RUN}`,
    { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' },
  ],
]

const cases = ['off', 'on'].flatMap((auth) =>
  attacks.map(([attack, what, headers, body]) => [auth, attack, { what, headers, body }] as const),
)

test.each(cases)(
  'authentication %s, %s: 403 and no effect',
  async (auth, _, { what, headers, body }) => {
    const { url, executions, uploaded } = await setup(auth === 'on')
    const response = await send(url, what, headers, body)
    expect(response.status).toBe(403)
    expect(response.headers).not.toHaveProperty('access-control-allow-origin')
    expect(response.headers['content-type']).toBe('application/json')
    if (!what.startsWith('HEAD'))
      expect(JSON.parse(response.text)).toEqual({
        detail: expect.stringMatching(/^(Host|Origin|Sec-Fetch-Site) .* is not /),
      })
    expect(response.text).not.toContain('canary')
    expect([executions.commands, uploaded]).toEqual([[], []])
  },
)

test.each(['/health', '/ready'])(
  '%s with any host and origin: not refused, for health probes',
  async (path) => {
    const { url } = await setup(true)
    const headers = { host: 'any.example', ...EVIL, 'sec-fetch-site': 'cross-site' }
    expect((await send(url, `GET ${path}`, headers)).status).not.toBe(403)
    expect((await send(url, `GET ${path}x`, headers)).status).toBe(403)
  },
)

test('no browser headers: requests are served', async () => {
  const { url, uploaded, executions } = await setup(false)
  expect((await send(url, 'POST /workflows', FORM, UPLOAD)).status).toBe(200)
  expect((await send(url, `POST ${RUN}`, {}, '{}')).status).toBe(200)
  expect((await send(url, 'GET /admin/secrets/s')).text).toContain('canary')
  expect((await send(url, 'GET /workflows', { host: 'localhost:1' })).status).not.toBe(403)
  expect(uploaded).toEqual(['print(1)'])
  expect(executions.commands).not.toEqual([])
})

test('same origin: allowed; a body needs the JSON content type', async () => {
  const { url, executions } = await setup(false)
  const own = { origin: url, 'sec-fetch-site': 'same-origin' }
  const untyped = await send(url, `POST ${RUN}`, own, '{}')
  expect([untyped.status, executions.commands]).toEqual([415, []])
  const typed = await send(url, `POST ${RUN}`, { ...own, 'content-type': 'application/json' }, '{}')
  expect(typed.status).toBe(200)
  expect((await send(url, `POST ${RUN}`, own)).status).toBe(200)
})

test('a WebSocket handshake of the own origin: not upgraded', async () => {
  const { url } = await setup(false)
  const headers = { origin: url, connection: 'upgrade', upgrade: 'websocket' }
  expect((await send(url, 'GET /nope', headers)).status).toBe(404)
})

test('public_url and allowed_hosts: their hosts and the public origin are allowed', async () => {
  const { url } = await setup(false, {
    SVC_SERVER__PUBLIC_URL: 'https://windlass.example',
    SVC_SERVER__ALLOWED_HOSTS: 'gateway',
  })
  const status = async (headers: Headers) => (await send(url, 'GET /docs', headers)).status
  expect(await status({ host: 'gateway:8000' })).toBe(200)
  expect(await status({ host: 'windlass.example', origin: 'https://windlass.example' })).toBe(200)
  expect(await status({ origin: 'https://windlass.example' })).toBe(200)
  expect(await status({ host: 'windlass.example', origin: 'http://windlass.example' })).toBe(403)
})

test('a refused body of 2 MB: answered with 403, the gateway keeps serving', async () => {
  const { url, call } = await setup(false)
  const response = await send(url, 'POST /workflows', { ...EVIL, ...FORM }, 'x'.repeat(2_000_000))
  expect(response.status).toBe(403)
  expect((await call('GET', '/nope')).status).toBe(404)
})
