import { newId } from '@windlass/runtime/ids'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

const RESTRICTIONS = { name_prefix: 'a-', namespaces: ['a'] }
const request = {
  name: 'team-a',
  expires_in_days: 1,
  max_uses: 2,
  restrictions_json: JSON.stringify(RESTRICTIONS),
}
const invalid = { configured: true, valid: false }

async function setup() {
  const { replica, db } = await startIdentity()
  const [one, two] = [await replica(), await replica()]
  const { token } = await one.workerTokens.create(request)
  const check = (of = two, text = token) =>
    of.identity.checkBootstrap({ token: text, accepts_grants: true })
  const register = (worker_name: string, renewal = false) =>
    one.identity.issueSession({
      ...{ worker_name, session_id: newId(), worker_token: 'team-a', renewal },
    })
  return { one, two, db, token, check, register }
}

test('a worker token: valid with its restrictions at every replica, stored as a hash', async () => {
  const { check, token, db } = await setup()
  const { valid, grant } = await check()
  expect(valid).toBe(true)
  expect(grant?.token_name).toBe('team-a')
  expect(JSON.parse(grant?.restrictions_json ?? '')).toEqual(RESTRICTIONS)
  expect(JSON.stringify(await db.rows(sql`select * from worker_tokens`))).not.toContain(
    token.slice(20),
  )
})

test('a gateway that knows no restrictions, or an altered token: not valid', async () => {
  const { one, check, token } = await setup()
  expect(await one.identity.checkBootstrap({ token })).toEqual(invalid)
  for (const other of [`${token}A`, token.slice(0, -1), token.replace(/^wt_./, 'wt_f')])
    if (other !== token) expect(await check(one, other)).toEqual(invalid)
})

test('a session of a worker token: has its restrictions', async () => {
  const { register, two } = await setup()
  const { token } = await register('a-1')
  expect(await two.identity.checkSession({ token })).toMatchObject({
    worker_name: 'a-1',
    grant: { token_name: 'team-a' },
  })
})

test('registrations above max_uses: refused; renewals do not count', async () => {
  const { register, check } = await setup()
  await register('a-1')
  for (let i = 0; i < 3; i++) await register('a-1', true)
  expect((await check()).valid).toBe(true)
  await register('a-2')
  expect(await check()).toEqual(invalid)
  await expect(register('a-3')).rejects.toMatchObject({ kind: 'forbidden' })
})

test('an expired token: not valid, and registers no worker', async () => {
  const { register, check, db } = await setup()
  await db.run(sql`update worker_tokens set expires_at = now()`)
  expect(await check()).toEqual(invalid)
  await expect(register('a-1')).rejects.toMatchObject({ kind: 'forbidden' })
})

test('a revoked token: not valid, its sessions end and no others', async () => {
  const { one, two, register, check } = await setup()
  const { token } = await register('a-1')
  const other = await one.identity.issueSession({ worker_name: 'b', session_id: newId() })
  expect(await two.workerTokens.revoke({ name: 'team-a' })).toEqual({ worker_names: ['a-1'] })
  expect(await check()).toEqual(invalid)
  await expect(one.identity.checkSession({ token })).rejects.toMatchObject({
    kind: 'unauthenticated',
  })
  expect(await one.identity.checkSession({ token: other.token })).toMatchObject({
    worker_name: 'b',
  })
  await expect(two.workerTokens.revoke({ name: 'team-a' })).rejects.toMatchObject({
    kind: 'not_found',
  })
})

test('list: uses and restrictions, without the token; a second token of the name: conflict', async () => {
  const { one, two, register, token } = await setup()
  await register('a-1')
  const { tokens } = await two.workerTokens.list({})
  expect(tokens).toMatchObject([{ name: 'team-a', uses: 1, max_uses: 2 }])
  expect(JSON.stringify(tokens)).not.toContain(token.slice(20))
  await expect(one.workerTokens.create(request)).rejects.toMatchObject({ kind: 'conflict' })
})

test('the end of a session: refused at every replica, and audited', async () => {
  const { one, two, register, db } = await setup()
  const { token } = await register('a-1')
  expect(await one.workerTokens.endSession({ worker_name: 'a-1' })).toEqual({ ended: 1 })
  await expect(two.identity.checkSession({ token })).rejects.toMatchObject({
    kind: 'unauthenticated',
  })
  const recorded = await db.rows(
    sql`select object, outcome from audit_log where action = 'worker.end_session'`,
  )
  expect(recorded).toEqual([{ object: 'worker:a-1', outcome: 'done' }])
})
