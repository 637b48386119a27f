import { ANONYMOUS_CALLER } from '@windlass/domain/caller'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

async function setup() {
  const { db, replica } = await startIdentity()
  const { principals } = await replica()
  return { db, principals }
}

test('first request of a principal: creates it once, with the default roles', async () => {
  const { db, principals } = await setup()
  const principal = { subject: 'eve', external_issuer: 'https://idp/' }
  await expect(principals.resolve(principal)).rejects.toMatchObject({ kind: 'not_found' })
  const ask = { principal, display_name: 'Eve', roles: ['viewer'], metadata_json: '{"azp":"app"}' }
  const itself = { caller: { subject: 'eve', issuer: 'https://idp/' } }
  for (const caller of [
    ANONYMOUS_CALLER,
    { ...itself.caller, issuer: 'svc' },
    { ...itself.caller, subject: 'bob' },
  ])
    await expect(principals.provision(ask, { caller })).rejects.toMatchObject({ kind: 'forbidden' })
  await expect(principals.resolve(principal)).rejects.toMatchObject({ kind: 'not_found' })
  const { principal: eve, permissions } = await principals.provision(ask, itself)
  expect(eve).toMatchObject({ ...principal, type: 'user', roles: ['viewer'], display_name: 'Eve' })
  expect(permissions).toContain('workflow:*:*:read')
  expect(await principals.provision({ ...ask, roles: ['admin'] }, itself)).toEqual({
    principal: eve,
    permissions,
  })
  expect(await principals.resolve(principal)).toEqual({ principal: eve, permissions })
  const kept = await db.maybe<{ metadata: string }>(sql`select metadata from principals`)
  expect(kept?.metadata).toBe('{"azp":"app"}')
})

test('N021: fifty concurrent first requests: one principal, and all succeed', async () => {
  const { db, principals } = await setup()
  const principal = { subject: 'eve', external_issuer: 'https://idp/' }
  const ask = { principal, display_name: 'Eve', roles: ['viewer'], metadata_json: '{}' }
  const itself = { caller: { subject: 'eve', issuer: 'https://idp/' } }
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => principals.provision(ask, itself)),
  )
  expect(new Set(answers.map((answer) => answer.principal?.id)).size).toBe(1)
  expect(answers.every(({ permissions }) => permissions.includes('workflow:*:*:read'))).toBe(true)
  expect(await db.rows(sql`select id from principals`)).toHaveLength(1)
})
