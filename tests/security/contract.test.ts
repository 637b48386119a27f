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

const teardown: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one), {
    singleProcess: false,
    replicas: { gateway: 2, identity: 2 },
  })
  const more = ', required_permissions=["payroll:run"], secret_requests=["a"]'
  for (const source of [workflowSource('team', 'job', more), workflowSource('default', 'job')])
    expect((await auth.upload(source)).status).toBe(200)
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

let requests = 0
const assertCase = async ([what, body, expected]: ContractCase) =>
  assertResponse(await auth.request(what, { token: auth.admin, body }, requests++ % 2), expected)

describe('principals', () => {
  test.each(principalCases)('%s %j', (...row) => assertCase(row))
})
describe('API keys', () => {
  test.each(keyCases)('%s %j', (...row) => assertCase(row))
})
describe('roles', () => {
  test.each(roleCases)('%s %j', (...row) => assertCase(row))
})
describe('secrets', () => {
  test.each(secretCases)('%s %j', (...row) => assertCase(row))
})
describe('introspection', () => {
  test.each(introspectionCases)('%s', (...row) => assertCase(row))
})

test.each(requiredPermissions)(
  '%s: requires %s and no other permission',
  async (what, permission, body) => {
    for (const gateway of [0, 1]) {
      assertResponse(await auth.request(what, { body }, gateway), refusals.anonymous)
      const others = await auth.keyWith(OTHERS.filter((one) => one !== permission))
      assertResponse(
        await auth.request(what, { token: others, body }, gateway),
        refusals.noPermission(permission),
      )
    }
    const { status } = await auth.request(what, { token: await auth.keyWith([permission]), body })
    expect([401, 403]).not.toContain(status)
  },
)

/** All administrative permissions; none may grant what another one grants. */
const OTHERS = [...new Set(requiredPermissions.map(([, permission]) => permission))].filter(
  (one) => one !== 'admin:*',
)

test('API key list: last_used_at is set for a used key and null for an unused one', async () => {
  const { subject, key } = await auth.createAccount(['viewer'])
  await auth.requestOk(`POST /admin/principals/${subject}/keys`, { body: { name: 'spare' } })
  const before = Date.now()
  expect((await auth.request('GET /workflows', { token: key }, 1)).status).toBe(200)
  const keys = (await auth.requestOk(`GET /admin/principals/${subject}/keys`)) as unknown as {
    name: string
    last_used_at: string | null
  }[]
  const used = Object.fromEntries(keys.map(({ name, last_used_at }) => [name, last_used_at]))
  expect(used.spare).toBeNull()
  expect(Math.abs(Date.parse(used.k ?? '') - before)).toBeLessThan(60_000)
})
