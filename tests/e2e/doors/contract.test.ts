import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { check } from './check.ts'
import {
  type ContractRow,
  introspectionRows,
  keyRows,
  needed,
  principalRows,
  refusals,
  roleRows,
  secretRows,
} from './contract-rows.ts'
import { type House, openHouse, workflowSource } from './house.ts'

const undo: (() => unknown)[] = []
let house: House

beforeAll(async () => {
  house = await openHouse((one) => undo.push(one), { replicas: { gateway: 2, identity: 2 } })
  const more = ', required_permissions=["payroll:run"], secret_requests=["a"]'
  for (const source of [workflowSource('team', 'job', more), workflowSource('default', 'job')])
    expect((await house.upload(source)).status).toBe(200)
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

let asked = 0
const play = async ([what, body, expected]: ContractRow) =>
  check(await house.ask(what, { token: house.admin, body }, asked++ % 2), expected)

describe('principals', () => {
  test.each(principalRows)('%s %j', (...row) => play(row))
})
describe('API keys', () => {
  test.each(keyRows)('%s %j', (...row) => play(row))
})
describe('roles', () => {
  test.each(roleRows)('%s %j', (...row) => play(row))
})
describe('secrets', () => {
  test.each(secretRows)('%s %j', (...row) => play(row))
})
describe('introspection', () => {
  test.each(introspectionRows)('%s', (...row) => play(row))
})

test.each(needed)('%s asks for %s and for nothing else', async (what, permission, body) => {
  for (const gateway of [0, 1]) {
    check(await house.ask(what, { body }, gateway), refusals.nobody)
    const others = await house.holding(OTHERS.filter((one) => one !== permission))
    check(await house.ask(what, { token: others, body }, gateway), refusals.stranger(permission))
  }
  const { status } = await house.ask(what, { token: await house.holding([permission]), body })
  expect([401, 403]).not.toContain(status)
})

/** All rights of administrators; each must leave every other door shut. */
const OTHERS = [...new Set(needed.map(([, permission]) => permission))].filter(
  (one) => one !== 'admin:*',
)

test('a key that was used says when, and one that was not does not', async () => {
  const { subject, key } = await house.account(['viewer'])
  await house.must(`POST /admin/principals/${subject}/keys`, { body: { name: 'spare' } })
  const before = Date.now()
  expect((await house.ask('GET /workflows', { token: key }, 1)).status).toBe(200)
  const keys = (await house.must(`GET /admin/principals/${subject}/keys`)) as unknown as {
    name: string
    last_used_at: string | null
  }[]
  const used = Object.fromEntries(keys.map(({ name, last_used_at }) => [name, last_used_at]))
  expect(used.spare).toBeNull()
  expect(Math.abs(Date.parse(used.k ?? '') - before)).toBeLessThan(60_000)
})
