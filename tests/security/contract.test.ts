import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assertResponse } from './assert-response.ts'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import {
  type ContractCase,
  introspectionCases,
  keyCases,
  principalCases,
  refusals,
  requiredPermissions,
  roleCases,
  secretCases,
} from './contract-cases.ts'

const undo: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => undo.push(one), { replicas: { gateway: 2, identity: 2 } })
  const more = ', required_permissions=["payroll:run"], secret_requests=["a"]'
  for (const source of [workflowSource('team', 'job', more), workflowSource('default', 'job')])
    expect((await auth.upload(source)).status).toBe(200)
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

let asked = 0
const play = async ([what, body, expected]: ContractCase) =>
  assertResponse(await auth.ask(what, { token: auth.admin, body }, asked++ % 2), expected)

describe('principals', () => {
  test.each(principalCases)('%s %j', (...row) => play(row))
})
describe('API keys', () => {
  test.each(keyCases)('%s %j', (...row) => play(row))
})
describe('roles', () => {
  test.each(roleCases)('%s %j', (...row) => play(row))
})
describe('secrets', () => {
  test.each(secretCases)('%s %j', (...row) => play(row))
})
describe('introspection', () => {
  test.each(introspectionCases)('%s', (...row) => play(row))
})

test.each(requiredPermissions)(
  '%s asks for %s and for nothing else',
  async (what, permission, body) => {
    for (const gateway of [0, 1]) {
      assertResponse(await auth.ask(what, { body }, gateway), refusals.nobody)
      const others = await auth.holding(OTHERS.filter((one) => one !== permission))
      assertResponse(
        await auth.ask(what, { token: others, body }, gateway),
        refusals.stranger(permission),
      )
    }
    const { status } = await auth.ask(what, { token: await auth.holding([permission]), body })
    expect([401, 403]).not.toContain(status)
  },
)

/** All rights of administrators; each must leave every other door shut. */
const OTHERS = [...new Set(requiredPermissions.map(([, permission]) => permission))].filter(
  (one) => one !== 'admin:*',
)

test('a key that was used says when, and one that was not does not', async () => {
  const { subject, key } = await auth.account(['viewer'])
  await auth.must(`POST /admin/principals/${subject}/keys`, { body: { name: 'spare' } })
  const before = Date.now()
  expect((await auth.ask('GET /workflows', { token: key }, 1)).status).toBe(200)
  const keys = (await auth.must(`GET /admin/principals/${subject}/keys`)) as unknown as {
    name: string
    last_used_at: string | null
  }[]
  const used = Object.fromEntries(keys.map(({ name, last_used_at }) => [name, last_used_at]))
  expect(used.spare).toBeNull()
  expect(Math.abs(Date.parse(used.k ?? '') - before)).toBeLessThan(60_000)
})
