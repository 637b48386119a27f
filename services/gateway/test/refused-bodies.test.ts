import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { routes } from '../src/routes/index.ts'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'
import { keyOf, serviceAccount } from './service-account.ts'

const HANG_MS = 60_000
const LARGE = 16 * 1_048_576
const OTHER_TENANT = ['workflow:other:*', 'schedule:other:*', 'execution:other:*', 'config:other:*']

/** Callers that each route refuses, with their credentials. */
const CALLERS: Record<string, Record<string, string>> = {
  'an anonymous caller': {},
  'a caller without permissions': { authorization: `Bearer ${keyOf('0')}` },
  'a caller of another namespace': { authorization: `Bearer ${keyOf('1')}` },
  'another worker': { authorization: 'Bearer session-of-w2' },
}

const fillPath = (path: string) =>
  path
    .replace('{mode}', 'async')
    .replaceAll(/{(version|a|b)}/g, '1')
    .replace('{execution_id}', ID)
    .replaceAll(/{\w+}/g, 'w1')

/** Routes that require more than a credential. */
const refusing = routes.filter(
  ({ access, method }) =>
    !['public', 'authenticated', 'sees readable'].includes(access) && method !== 'get',
)

const startRefusingGateway = () =>
  startGateway(
    {
      identity: { checkBootstrap: async () => ({ configured: true, valid: false }) },
      keys: {
        async find({ prefix }) {
          const permissions = prefix.startsWith('wk_0') ? [] : OTHER_TENANT
          return { account: { principal: serviceAccount(), permissions }, expires_at: undefined }
        },
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )

// No body is ever sent, so a response proves that none was read.
test.each(Object.keys(CALLERS))(
  '%s, every route: refused before any of the body is read',
  async (caller) => {
    const { url } = await startRefusingGateway()
    // Uploads and new schedules name their workflow in the body; configs are open to every worker.
    // The refusal of an upload names the namespace of the file, by the contract. Acts by filter match
    // what the caller may read only.
    const admitted: Record<string, string[]> = {
      'a caller without permissions': ['/workflows'],
      'a caller of another namespace': ['/workflows', '/schedules', '/executions/bulk'],
      'another worker': ['/admin/configs/batch'],
    }
    const answers = refusing
      .filter(({ path }) => !admitted[caller]?.includes(path))
      .flatMap(({ method, path }) =>
        [`content-length: ${LARGE}`, 'transfer-encoding: chunked'].map(async (framing) => {
          const request = [
            method.toUpperCase(),
            fillPath(path),
            { ...CALLERS[caller] },
            framing,
          ] as const
          return [`${method} ${path}, ${framing}`, await statusOfHead(url, request)]
        }),
      )
    for (const [request, status] of await Promise.all(answers))
      expect(status, request).toMatch(/^(401|403|404)$/)
  },
)

type RequestHead = readonly [string, string, headers: Record<string, string>, framing: string]

/** Sends a request without its body; returns the status, or "none" if the gateway waits for the body. */
async function statusOfHead(url: string, [method, path, headers, framing]: RequestHead) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const type = path === '/workflows' ? 'multipart/form-data; boundary=x' : 'application/json'
  const lines = Object.entries({ host: 'localhost', 'content-type': type, ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}`)
  socket.write([`${method} ${path} HTTP/1.1`, ...head, framing, '', ''].join('\r\n'))
  socket.setTimeout(HANG_MS, () => socket.destroy())
  const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
  socket.destroy()
  return String(answer).split(' ')[1] ?? 'no answer'
}

const UPLOADS: [what: string, type: string, framing: string][] = [
  ['a length above the limit', 'multipart/form-data; boundary=x', `content-length: ${LARGE}`],
  ['no form', 'application/json', `content-length: ${LARGE}`],
  ['no boundary', 'multipart/form-data', 'transfer-encoding: chunked'],
]

test.each(UPLOADS)(
  'a caller without permissions, an upload with %s: 403 before any of the body is read',
  async (_, type, framing) => {
    const { url } = await startRefusingGateway()
    const headers = { ...CALLERS['a caller without permissions'], 'content-type': type }
    expect(await statusOfHead(url, ['POST', '/workflows', headers, framing])).toBe('403')
  },
)

test('a caller without permissions, an upload without a length that is too large: 403', async () => {
  const { call } = await startRefusingGateway()
  const form = new FormData()
  form.append('file', new Blob(['x'.repeat(3 * 1_048_576)]))
  const { body, headers } = new Request('http://x', { method: 'POST', body: form })
  headers.set('authorization', CALLERS['a caller without permissions']?.authorization ?? '')
  const response = await call('POST', '/workflows', { body, headers, duplex: 'half' } as object)
  const detail = "Permission denied: requires 'workflow:default:*:register'"
  expect([response.status, await response.json()]).toEqual([403, { detail }])
})
