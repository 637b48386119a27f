import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { idleWorker } from './idle-worker.ts'

const WINDLASS = fileURLToPath(new URL('../../packages/cli/bin/windlass.mjs', import.meta.url))
const ENCRYPTION_KEY = 'an encryption key of this test alone'
const teardown: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one), {
    replicas: { gateway: 2, identity: 2 },
    env: {
      SVC_AUDIT__CHECKPOINT_INTERVAL: '0.5',
      SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: ENCRYPTION_KEY,
    },
  })
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

/** Runs `windlass audit` as an auditor would. */
async function runAudit(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [WINDLASS, 'audit', ...args], {
    env: {
      ...process.env,
      SVC_CONFIG: '/dev/null',
      SVC_AUTH_TOKEN: auth.admin,
      SVC_WORKERS__SERVER_URL: auth.system.url,
      ...env,
    },
  })
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { status, out, err }
}

const verify = (...options: string[]) => runAudit(['verify', ...options])

interface Entry {
  seq: number
  actor: { subject: string; issuer: string }
  action: string
  object: string
  outcome: string
}
const entries = async (query: string) =>
  (await auth.requestOk(`GET /admin/audit?limit=1000&${query}`)).entries as unknown as Entry[]

/** Changes the log as the owner of the database can, with all triggers disabled. */
async function tamper(change: string) {
  const client = new pg.Client({ connectionString: auth.system.database })
  await client.connect()
  await client.query(`
    begin;
    alter table identity.audit_log disable trigger all;
    ${change};
    alter table identity.audit_log enable trigger all;
    commit`)
  await client.end()
}

test('OIDC user decides an approval: the approval and the audit log name the user and its issuer', async () => {
  const { issuer } = auth.idp
  const rights = ['workflow:x:x:read', 'workflow:x:x:task:pay:approve']
  await auth.requestOk('POST /admin/roles', { body: { name: 'approver', permissions: rights } })
  await auth.requestOk('POST /admin/principals', {
    body: { type: 'user', subject: 'ann', external_issuer: issuer, roles: ['approver'] },
  })
  await auth.requestOk('POST /admin/principals', {
    body: { type: 'service_account', subject: 'ann', roles: [] },
  })
  await auth.upload(workflowSource('x', 'x'))
  const worker = await idleWorker(auth, 'w1')
  teardown.push(() => worker.disconnect())
  const ann = await auth.idp.token({ sub: 'ann' })
  const decisions = [
    ['pay 1', 'approvals/pay%201/approve', { reason: 'fine' }, 'approved', 'approval.approve'],
    [
      'pay 2',
      'authorize/pay',
      { approved: false, reason: 'too much' },
      'rejected',
      'approval.reject',
    ],
  ] as const
  for (const [call, route, body, status, action] of decisions) {
    const { execution_id: id = '' } = await auth.requestOk('POST /workflows/x/x/run/async', {
      body: null,
    })
    const { generation } = await worker.claim(id)
    const question = { task_call_id: call, task_name: 'pay' }
    const asked = await worker.call(`approvals/${id}`, question, {
      'x-svc-claim-generation': generation,
    })
    expect(asked.status, asked.text).toBe(200)
    const decided = await auth.request(`POST /executions/${id}/${route}`, { token: ann, body }, 1)
    expect(decided.status, decided.text).toBe(200)
    const approver = { subject: 'ann', provider: issuer }
    expect(decided.body).toMatchObject({ status, approver, reason: body.reason })
    const object = encodeURIComponent(`approval:${id}/${call}`)
    expect(await entries(`object=${object}&outcome=done`)).toMatchObject([
      { actor: { subject: 'ann', issuer }, action },
    ])
  }
})

test('export, prune, verify: the rest is intact with its checkpoint, also without a server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-audit-'))
  teardown.push(() => rm(folder, { recursive: true }))
  const [before, after] = [join(folder, 'before'), join(folder, 'after')]
  await auth.requestOk('POST /admin/roles', { body: { name: 'kept', permissions: ['a:b'] } })
  const exported = await runAudit(['export', before])
  const head = exported.out.trim()
  const client = new pg.Client({ connectionString: auth.system.database })
  await client.connect()
  await client.query(`
    create or replace function identity.audit_min_age() returns interval language sql immutable as
      $$ select interval '0 seconds' $$`)
  await client.end()
  const database = { SVC_POSTGRES__URL: auth.system.database }
  expect(await runAudit(['prune', head], database)).toMatchObject({
    status: 1,
    err: expect.stringContaining('encryption_key: set it'),
  })
  const pruned = await runAudit(['prune', head], {
    ...database,
    SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: ENCRYPTION_KEY,
  })
  expect(pruned).toMatchObject({ status: 0, out: expect.stringMatching(/^deleted \d+ entries/) })

  const { keys } = JSON.parse((await runAudit(['keys'])).out)
  const whole = await verify('--key', keys[0].kid)
  expect(whole).toMatchObject({ status: 0, err: '' })
  expect(whole.out).toMatch(/entries 1 to \d+ were pruned on \S+, with a signed checkpoint/)
  expect(await verify(before, '--key', keys[0].kid)).toMatchObject({ status: 0, err: '' })
  const saved = join(folder, 'checkpoints')
  await writeFile(saved, (await runAudit(['checkpoints', '--json', '--limit', '1000'])).out)
  expect(await runAudit(['export', after, '--after-pruned'])).toMatchObject({ status: 0 })
  for (const file of [before, after])
    expect(await verify(file, '--offline', '--checkpoints', saved)).toMatchObject({
      ...{ status: 0, err: '' },
    })
})

test('audit verify: accepts an untouched log and names each changed or removed entry', async () => {
  for (let i = 0; i < 4; i++)
    await auth.requestOk('POST /admin/roles', { body: { name: `r${i}`, permissions: ['a:b'] } })
  await auth.requestOk('POST /admin/secrets', { body: { name: 'a', value: 1 } })
  await auth.requestOk('DELETE /admin/roles/r3')
  const whole = await verify()
  expect(whole).toMatchObject({ status: 0, err: '' })
  const [, head = ''] = /head (\S+)/.exec(whole.out) ?? []
  const [deletion] = await entries('action=role.delete')
  const [creation] = await entries('object=role:r1')
  if (!deletion || !creation) expect.unreachable()

  await tamper(`update identity.audit_log set subject = 'eve' where seq = ${creation.seq}`)
  expect(await verify()).toMatchObject({
    status: 3,
    err: `entry ${creation.seq} was changed\n`,
  })
  await tamper(`delete from identity.audit_log where seq = ${deletion.seq}`)
  const found = await verify('--head', head)
  expect(found.status).toBe(3)
  expect(found.err).toContain(`entry ${creation.seq} was changed\n`)
  expect(found.err).toMatch(new RegExp(`entr(y|ies) ${deletion.seq}.* (is|are) missing`))
})

test('triggers enabled: every change of the audit log is refused', async () => {
  const client = new pg.Client({ connectionString: auth.system.database })
  await client.connect()
  for (const change of [
    'update identity.audit_log set subject = subject',
    'delete from identity.audit_log',
    'truncate identity.audit_log',
    'delete from identity.audit_head',
  ])
    await expect(client.query(change), change).rejects.toThrow('only appended to')
  await client.end()
})
