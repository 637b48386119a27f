import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { idleWorker } from './idle-worker.ts'

const WINDLASS = fileURLToPath(new URL('../../packages/cli/bin/windlass.mjs', import.meta.url))
const teardown: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one), {
    replicas: { gateway: 2, identity: 2 },
  })
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

/** Runs `windlass audit verify` as an auditor would. */
async function verify(...options: string[]) {
  const child = spawn(process.execPath, [WINDLASS, 'audit', 'verify', ...options], {
    env: {
      ...process.env,
      SVC_CONFIG: '/dev/null',
      SVC_AUTH_TOKEN: auth.admin,
      SVC_WORKERS__SERVER_URL: auth.system.url,
    },
  })
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { status, out, err }
}

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
