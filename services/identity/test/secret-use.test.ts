import {
  ConfigsService,
  SecretsService,
  type UseEntriesRequest,
} from '@windlass/proto/windlass/identity/v1/secrets'
import { sql } from '@windlass/runtime/postgres/sql'
import { testIdentity } from '@windlass/testkit/service-identity'
import { expect, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

const KEY = { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'correct horse battery staple' }
const AUTH = {
  SVC_SECURITY__AUTH__ENABLED: 'true',
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'kq7Vt2Zr9pXw4Ls8Nd3Hb6Jm1Gf5Ty0Q',
  SVC_WORKERS__BOOTSTRAP_TOKEN: 'kq7Vt2Zr9pXw4Ls8Nd3Hb6Jm1Gf5Ty0Q',
}
const kinds = ['secrets', 'configs'] as const
const rpcs = { secrets: SecretsService.use.path, configs: ConfigsService.use.path }

const some = (...items: string[]) => ({ items, all: false })
const ALL = { items: [], all: true }

const use = (changes: Partial<UseEntriesRequest> = {}): UseEntriesRequest => ({
  ...{ names: ['a'], namespace: 'team-a', workflow: 'report', workflow_version: 1 },
  ...{ uploader: '', execution_id: 'e', worker_name: 'w', client_address: '::1' },
  ...changes,
})

const valuesOf = ({ entries }: { entries: { value_json: string }[] }) =>
  entries.map(({ value_json }) => value_json)

test.each(kinds)('%s of another namespace or workflow: left out', async (kind) => {
  const { replica } = await startIdentity()
  const client = (await replica(KEY))[kind]
  const entry = { name: 'a', value_json: '1' }
  const scoped = { namespaces: some('team-a'), workflows: some('rep*') }
  await client.put({ entry: { ...entry, ...scoped } })
  expect(valuesOf(await client.use(use()))).toEqual(['1'])
  for (const others of [
    { namespace: 'team-b' },
    { workflow: 'other' },
    { namespace: '', workflow: '' },
  ])
    expect(valuesOf(await client.use(use(others)))).toEqual([])
  expect(await client.list({})).toMatchObject({ entries: [{ name: 'a', ...scoped }] })

  // A client that knows no patterns replaces the value and does not widen them.
  await client.put({ entry: { name: 'a', value_json: '2' } })
  expect(await client.get({ name: 'a' })).toMatchObject({ value_json: '2', ...scoped })
  await client.put({ entry: { ...entry, namespaces: ALL, workflows: ALL } })
  expect(valuesOf(await client.use(use({ namespace: '', workflow: '' })))).toEqual(['1'])
})

test('patterns widened in the table: the secret cannot be decrypted', async () => {
  const { db, replica } = await startIdentity()
  const { secrets } = await replica(KEY)
  await secrets.put({ entry: { name: 'a', value_json: '1', namespaces: some('team-a') } })
  await db.run(sql`update secrets set namespaces = null`)
  await expect(secrets.use(use({ namespace: 'team-b' }))).rejects.toMatchObject({
    kind: 'misconfigured',
  })
})

test('the newest version of a secret: the database refuses to set it back', async () => {
  const { db, replica } = await startIdentity()
  const { secrets } = await replica(KEY)
  for (const value_json of ['1', '2']) await secrets.put({ entry: { name: 'a', value_json } })
  for (const attack of [
    sql`update secret_versions set version = 1`,
    sql`delete from secret_versions`,
    sql`truncate secret_versions`,
  ])
    await expect(db.run(attack)).rejects.toThrow('versions of secrets only grow')
})

test('an installation that was in use: patterns are ignored unless the setting says otherwise', async () => {
  const { db, replica } = await startIdentity()
  await db.run(sql`update installation set secrets_policy = 'declared'`)
  const { secrets } = await replica(KEY)
  await secrets.put({ entry: { name: 'a', value_json: '1', namespaces: some('team-a') } })
  expect(valuesOf(await secrets.use(use({ namespace: 'team-b' })))).toEqual(['1'])
  const scoped = await replica({ ...KEY, SVC_SECURITY__SECRETS: 'scoped' })
  expect(valuesOf(await scoped.secrets.use(use({ namespace: 'team-b' })))).toEqual([])
})

/** An installation with the policy `uploader`, and a function that makes a principal with permissions. */
async function uploaderSetup(kind: (typeof kinds)[number]) {
  const { replica } = await startIdentity()
  const { roles, principals, ...rest } = await replica({
    ...AUTH,
    SVC_SECURITY__SECRETS: 'uploader',
  })
  await rest[kind].put({ entry: { name: 'a', value_json: '1' } })
  const tokenOf = (subject: string) =>
    testIdentity('gateway').signCaller({ subject, issuer: 'svc' }, 'identity', rpcs[kind])
  const create = async (subject: string, permissions: string[]) => {
    await roles.create({ name: subject, permissions })
    const principal = { subject, external_issuer: 'svc', type: 'service_account' }
    await principals.create({ ...principal, display_name: subject, roles: [subject] })
    return tokenOf(subject)
  }
  return { client: rest[kind], principals, create, tokenOf }
}

test.each([
  ['secrets', ['secret:a:use']],
  ['secrets', ['admin:secrets:read']],
  ['configs', ['config:*:read']],
] as const)('policy uploader, %s: requires one of %j', async (kind, permissions) => {
  const { client, principals, create, tokenOf } = await uploaderSetup(kind)
  const others = await create('others', ['workflow:*', 'secret:b:use', 'config:b:read'])
  const refused = { kind: 'forbidden', message: expect.stringContaining('may not use: a') }
  for (const uploader of [others, tokenOf('unknown'), tokenOf(''), '', 'x'])
    for (const names of [['a'], ['a', 'b']])
      await expect(client.use(use({ uploader, names }))).rejects.toMatchObject(refused)

  const uploader = await create('author', [...permissions])
  expect(valuesOf(await client.use(use({ uploader })))).toEqual(['1'])
  const principal = { subject: 'author', external_issuer: 'svc' }
  await principals.update({ principal, enabled: false })
  await expect(client.use(use({ uploader }))).rejects.toMatchObject(refused)
})

test('a token of the uploader for another rpc: refused', async () => {
  const { client, create } = await uploaderSetup('secrets')
  await create('author', ['admin:secrets:read'])
  const uploader = testIdentity('gateway').signCaller(
    { subject: 'author', issuer: 'svc' },
    'identity',
    SecretsService.put.path,
  )
  await expect(client.use(use({ uploader }))).rejects.toMatchObject({ kind: 'forbidden' })
})
