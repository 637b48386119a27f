import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem } from './auth-system.ts'
import type { Case } from './cases.ts'
import { callTool, resultOf, statusAndBody, toolErrorOf, toolOf } from './mcp-client.ts'
import { permissionCases } from './permission-cases.ts'
import { sendRaw } from './raw-http.ts'
import { seedCredentials } from './seed.ts'
import { credentialCases, oidcCases } from './token-cases.ts'

const undo: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => undo.push(one), { replicas: { gateway: 2 } })
  await seedCredentials(auth)
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

const ANYBODY = 'GET /workers'

/** The same row, asked by an agent. */
async function play([, asking, expected]: Case): Promise<void> {
  const { what = ANYBODY, body, ...given } = await asking(auth)
  const call = toolOf(what, body)
  if (!call) throw new Error(`no tool for ${what}`)
  const [status, said] = statusAndBody(expected)
  const answer = await callTool(auth, call, given)
  if (status === 431) return expect(answer.status).toBe(431)
  const result = resultOf(answer)
  if (status < 300) return expect(result).not.toHaveProperty('error')
  expect(result).toEqual({
    success: false,
    error: expect.stringContaining(toolErrorOf([status, said])),
  })
}

describe('credentials through tools (5.3)', () => {
  test.each(credentialCases)('%s', (...row) => play(row))
})

describe('tokens of an issuer through tools (5.3)', () => {
  test.each(oidcCases)('%s', (...row) => play(row))
})

describe('permissions through tools (5.4)', () => {
  test.each(permissionCases.filter(([, { what, body }]) => toolOf(what, body)))('%s', (...row) =>
    play(row),
  )
})

test('N004: an agent with two credentials has none', async () => {
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
