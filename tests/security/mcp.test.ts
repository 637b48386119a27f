import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem } from './auth-system.ts'
import type { Case } from './cases.ts'
import { callTool, resultOf, statusAndBody, toolErrorOf, toolOf } from './mcp-client.ts'
import { permissionCases } from './permission-cases.ts'
import { sendRaw } from './raw-http.ts'
import { seedCredentials } from './seed.ts'
import { credentialCases, oidcCases } from './token-cases.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one), { replicas: { gateway: 2 } })
  await seedCredentials(auth)
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

const DEFAULT_REQUEST = 'GET /workers'

/** Runs the case through the MCP tool for its request. */
async function assertThroughTool([, asking, expected]: Case): Promise<void> {
  const { what = DEFAULT_REQUEST, body: requestBody, ...given } = await asking(auth)
  const call = toolOf(what, requestBody)
  if (!call) throw new Error(`no tool for ${what}`)
  const [status, body] = statusAndBody(expected)
  const answer = await callTool(auth, call, given)
  if (status === 431) return expect(answer.status).toBe(431)
  const result = resultOf(answer)
  if (status < 300) return expect(result).not.toHaveProperty('error')
  expect(result).toEqual({
    success: false,
    error: expect.stringContaining(toolErrorOf([status, body])),
  })
}

describe('credentials through tools (5.3)', () => {
  test.each(credentialCases)('%s', (...one) => assertThroughTool(one))
})

describe('tokens of an issuer through tools (5.3)', () => {
  test.each(oidcCases)('%s', (...one) => assertThroughTool(one))
})

describe('permissions through tools (5.4)', () => {
  test.each(permissionCases.filter(([, { what, body }]) => toolOf(what, body)))('%s', (...one) =>
    assertThroughTool(one),
  )
})

test('N004: MCP request with two Authorization headers: 400', async () => {
  const bytes = (...headers: string[]) => {
    const body = JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'list_workers', arguments: {} },
    })
    const lines = [
      ...['POST /mcp HTTP/1.1', 'Host: localhost', 'Connection: close'],
      ...['Content-Type: application/json', 'Accept: application/json, text/event-stream'],
      ...headers.map((header) => `Authorization: Bearer ${header}`),
      `Content-Length: ${body.length}`,
    ]
    return `${lines.join('\r\n')}\r\n\r\n${body}`
  }
  const origin = new URL(auth.system.mcpUrl).origin
  for (const pair of [
    [auth.admin, 'x'],
    ['x', auth.admin],
    [auth.admin, auth.admin],
  ]) {
    const { status, text } = await sendRaw(origin, bytes(...pair))
    expect([status, text]).toEqual([400, expect.stringContaining('Duplicate Authorization header')])
  }
  const answer = await callTool(
    auth,
    { name: 'list_workers', arguments: {} },
    { token: auth.admin },
  )
  expect(resultOf(answer)).toMatchObject({ success: true })
})
