import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { furnish } from './furnish.ts'
import { type House, openHouse } from './house.ts'
import { callTool, pairOf, resultOf, toldAs, toolOf } from './mcp.ts'
import { permissionRows } from './permission-rows.ts'
import type { Row } from './rows.ts'
import { credentialRows, oidcRows } from './token-rows.ts'
import { sendBytes } from './wire.ts'

const undo: (() => unknown)[] = []
let house: House

beforeAll(async () => {
  house = await openHouse((one) => undo.push(one), { replicas: { gateway: 2 } })
  await furnish(house)
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

const ANYBODY = 'GET /workers'

/** The same row, asked by an agent. */
async function play([, asking, expected]: Row): Promise<void> {
  const { what = ANYBODY, body, ...given } = await asking(house)
  const call = toolOf(what, body)
  if (!call) throw new Error(`no tool for ${what}`)
  const [status, said] = pairOf(expected)
  const answer = await callTool(house, call, given)
  if (status === 431) return expect(answer.status).toBe(431)
  const result = resultOf(answer)
  if (status < 300) return expect(result).not.toHaveProperty('error')
  expect(result).toEqual({ success: false, error: expect.stringContaining(toldAs([status, said])) })
}

describe('credentials through tools (5.3)', () => {
  test.each(credentialRows)('%s', (...row) => play(row))
})

describe('tokens of an issuer through tools (5.3)', () => {
  test.each(oidcRows)('%s', (...row) => play(row))
})

describe('permissions through tools (5.4)', () => {
  test.each(permissionRows.filter(([, { what, body }]) => toolOf(what, body)))('%s', (...row) =>
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
  const origin = new URL(house.system.mcpUrl).origin
  for (const pair of [
    [house.admin, 'x'],
    ['x', house.admin],
    [house.admin, house.admin],
  ]) {
    const { status, text } = await sendBytes(origin, bytes(...pair))
    expect([status, text]).toEqual([400, expect.stringContaining('Duplicate Authorization header')])
  }
  const answer = await callTool(
    house,
    { name: 'list_workers', arguments: {} },
    { token: house.admin },
  )
  expect(resultOf(answer)).toMatchObject({ success: true })
})
