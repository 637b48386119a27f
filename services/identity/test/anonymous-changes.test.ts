import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { createAdminKey } from '../src/engine/admin-key.ts'
import { decideAnonymous, requireReviewedChanges } from '../src/engine/anonymous-review.ts'
import { listUndecided } from '../src/store/anonymous-changes.ts'
import { startIdentity } from './identity-fixture.ts'

const AUTH_ON = {
  SVC_SECURITY__AUTH__ENABLED: 'true',
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'an encryption key of the tests alone',
  SVC_WORKERS__BOOTSTRAP_TOKEN: 'a bootstrap token of the tests',
}
const ANN = { caller: { subject: 'ann', issuer: 'svc', key_prefix: 'wk_0000000000000001' } }
const robot = { subject: 'robot', external_issuer: 'svc' }
const account = { ...robot, type: 'service_account', display_name: undefined }
const KEY = 'key:svc/robot/ci'
const ROBOT = 'principal:svc/robot'
const ROLE = 'role:ops'

/** An anonymous caller has made an administrator with a key, and a role that `ann` got. */
async function setup() {
  const { db, replica } = await startIdentity()
  const open = await replica()
  await open.principals.create({ ...account, roles: ['admin'] })
  await open.keys.create({ principal: robot, name: 'ci', expires_in_days: 0 })
  await open.roles.create({ name: 'ops', permissions: ['workflow:*'] })
  await createAdminKey(db, { subject: 'root', name: 'first', days: 0 })
  const undecided = async () => (await listUndecided(db)).map(({ object }) => object)
  return { db, replica, open, undecided }
}

test('anonymous key and role, then authentication on: identity does not start and lists them', async () => {
  const { replica, undecided } = await setup()
  const refusal = await replica(AUTH_ON).then(
    () => '',
    (error: Error) => error.message,
  )
  for (const object of [KEY, ROBOT, ROLE]) expect(refusal).toContain(object)
  expect(refusal).not.toContain('root')
  expect(refusal).toContain('windlass admin review-anonymous')
  expect((await undecided()).sort()).toEqual([KEY, ROBOT, ROLE])
})

const TWINS = [
  { subject: 'x/y', external_issuer: 'svc' },
  { subject: 'y', external_issuer: 'svc/x' },
] as const

test('second principal with the name of another one in the audit log: refused, so that both are reviewed', async () => {
  const { open, undecided } = await setup()
  const [first, twin] = TWINS
  await open.principals.create({ ...account, ...twin, roles: ['admin'] })
  await open.keys.create({ principal: twin, name: 'ci', expires_in_days: 0 })
  const second = open.principals.create({ ...account, ...first, roles: ['admin'] })
  await expect(second).rejects.toMatchObject({
    kind: 'conflict',
    message: "Principal 'x/y' at issuer 'svc' would have the same name in the audit log as another",
  })
  expect(await undecided()).toEqual(expect.arrayContaining(['principal:svc/x/y', 'key:svc/x/y/ci']))
})

test('two principals of an earlier release with one name: revoked together, not confirmed', async () => {
  const { db, replica, open } = await setup()
  const [first, twin] = TWINS
  await open.principals.create({ ...account, ...first, roles: ['admin'] })
  await open.keys.create({ principal: first, name: 'ci', expires_in_days: 0 })
  await db.run(sql`
    with made as (
      insert into principals (id, subject, external_issuer, type)
      values (gen_random_uuid(), ${twin.subject}, ${twin.external_issuer}, 'service_account')
      returning id),
    granted as (
      insert into principal_roles (principal_id, role_name, granted_by)
      select id, 'admin', '' from made)
    insert into api_keys (prefix, token_hash, principal_id, name)
    select 'wk_0000000000000002', ${Buffer.alloc(32)}, id, 'ci' from made`)
  for (const object of ['principal:svc/x/y', 'key:svc/x/y/ci'])
    await expect(decideAnonymous(db, 'confirmed', object)).rejects.toMatchObject({
      kind: 'conflict',
    })
  await decideAnonymous(db, 'revoked', undefined)
  const { principals, keys } = await replica(AUTH_ON)
  for (const each of TWINS) {
    expect(await principals.resolve(each)).toMatchObject({
      principal: { enabled: false, roles: [] },
    })
    expect(await keys.list(each)).toEqual({ keys: [] })
  }
})

test('confirmed: identity starts; changed anonymously again: it does not', async () => {
  const { db, replica, open } = await setup()
  expect(await decideAnonymous(db, 'confirmed', KEY)).toEqual([KEY])
  await expect(replica(AUTH_ON)).rejects.toThrow(ROLE)
  await decideAnonymous(db, 'confirmed', undefined)
  const { audit } = await replica(AUTH_ON)
  const page = { since: undefined, until: undefined, limit: 10, offset: 0 }
  const filter = { actor: '', action: 'anonymous.confirm', object: KEY, outcome: 'done' }
  expect((await audit.list({ ...filter, ...page })).entries).toHaveLength(1)

  await open.roles.update({ name: 'ops', add_permissions: ['admin:*'], remove_permissions: [] })
  await expect(replica(AUTH_ON)).rejects.toThrow(`${ROLE}  (role.update;`)
})

test('revoked: the key and the role are gone, the principal is disabled and has no role', async () => {
  const { db, replica, open } = await setup()
  await decideAnonymous(db, 'revoked', undefined)
  const { keys, principals, roles } = await replica(AUTH_ON)
  expect(await keys.list(robot)).toEqual({ keys: [] })
  expect(await principals.get(robot)).toMatchObject({ enabled: false, roles: [] })
  await expect(roles.get({ name: 'ops' })).rejects.toMatchObject({ kind: 'not_found' })
  expect(await principals.get({ ...robot, subject: 'root' })).toMatchObject({ enabled: true })
  expect(await open.principals.get(robot)).toMatchObject({ enabled: false })
})

test('role granted anonymously to a known principal: revocation takes that role only', async () => {
  const { db, replica, open } = await setup()
  await decideAnonymous(db, 'confirmed', undefined)
  const root = { ...robot, subject: 'root' }
  await open.principals.grantRole({ principal: root, role: 'viewer' })
  await expect(replica(AUTH_ON)).rejects.toThrow('principal:svc/root  (principal.grant_role;')
  await decideAnonymous(db, 'revoked', 'principal:svc/root')
  const { principals } = await replica(AUTH_ON)
  expect(await principals.get(root)).toMatchObject({ enabled: true, roles: ['admin'] })
})

test('object deleted, or made again by an authenticated caller: nothing to decide', async () => {
  const { db, open, undecided } = await setup()
  await open.keys.revoke({ principal: robot, name: 'ci' }, ANN)
  await open.keys.create({ principal: robot, name: 'ci', expires_in_days: 0 }, ANN)
  await open.roles.delete({ name: 'ops' })
  expect(await undecided()).toEqual([ROBOT])
  await open.principals.delete({ principal: robot, force: true })
  expect(await undecided()).toEqual([])
  await expect(decideAnonymous(db, 'confirmed', KEY)).rejects.toMatchObject({ kind: 'not_found' })
})

test('authentication off: starts with undecided changes', async () => {
  const { db, replica } = await setup()
  await replica()
  await requireReviewedChanges(db, { security: { auth: { enabled: false } } } as never)
})

test('anonymous worker token, then authentication on: refused until it is revoked', async () => {
  const { db, replica } = await startIdentity()
  const { workerTokens } = await replica()
  await workerTokens.create({
    ...{ name: 't', expires_in_days: 1, max_uses: 2, restrictions_json: '{}' },
  })
  await expect(replica(AUTH_ON)).rejects.toThrow('worker_token:t  (worker_token.create;')
  expect(await decideAnonymous(db, 'revoked', undefined)).toEqual(['worker_token:t'])
  expect((await (await replica(AUTH_ON)).workerTokens.list({})).tokens).toEqual([])
})
