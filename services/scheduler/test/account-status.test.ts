import { sql } from '@windlass/runtime/postgres/sql'
import { verifiedStarter } from '@windlass/testkit/service-identity'
import { expect, test } from 'vitest'
import {
  callAs as asker,
  eventually,
  everySeconds,
  historyPage,
  makeOverdue,
  request,
  schedulerFixture,
} from './scheduler-fixture.ts'

/** Subject of the on-behalf-of token with which an execution was started. */
const starterOf = (command: { body?: { value: unknown } | undefined } | undefined) => {
  const create = command?.body?.value as { caller: string } | undefined
  return verifiedStarter(create?.caller ?? '', 'scheduler')?.subject
}

const RUN = 'workflow:team:report:run'
const AUTH_ON = {
  SVC_SECURITY__AUTH__ENABLED: 'true',
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: 'an execution token secret of the tests',
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'an encryption key of the tests alone',
}

/** Authentication is on; `ada@corp` and the service account `robot` may run the workflow. */
async function authFixture() {
  const system = await schedulerFixture(AUTH_ON)
  const { accounts } = system.identity
  accounts.set('ada@corp', { enabled: true, permissions: [RUN] })
  accounts.set('robot@svc', { enabled: true, permissions: ['workflow:*:*:run'] })
  const client = await system.replica()
  const by = (subject: string, issuer: string, given = {}) =>
    client.create(request(given), asker(subject, issuer))
  const fireNow = (made: Awaited<ReturnType<typeof by>>) => makeOverdue(system.db, made, 1, 3_600)
  const newest = async (id: string) => (await client.history(historyPage(id))).entries[0]
  return { ...system, accounts, client, by, fireNow, newest }
}

test('T7: creator of the schedule loses the permission: the tick is skipped and the next one is tried', async () => {
  const { accounts, by, client, newest, executions } = await authFixture()
  const made = await by('ada', 'corp', { config: everySeconds(1) })
  await eventually(() => executions.created.size).toBeGreaterThan(0)
  expect(starterOf(executions.submitted[0])).toBe('ada')

  accounts.set('ada@corp', { enabled: true, permissions: [] })
  await eventually(() => newest(made.id)).toMatchObject({
    state: 'SKIPPED',
    execution_id: '',
    error: `not allowed: 'ada' may not run team/report: requires '${RUN}'`,
  })
  const before = executions.created.size
  accounts.set('ada@corp', { enabled: true, permissions: [RUN] })
  await eventually(() => executions.created.size).toBeGreaterThan(before)
  expect(await client.get({ ref: made.id })).toMatchObject({ failure_count: 0, status: 'active' })
})

test.each([
  ['is disabled', { enabled: false, permissions: ['*'] }, "not allowed: 'ada' is disabled"],
  ['was deleted', undefined, "not allowed: 'ada' does not exist"],
])('T7: account that %s: the tick is skipped', async (_, account, reason) => {
  const { accounts, by, fireNow, newest, executions } = await authFixture()
  const made = await by('ada', 'corp')
  if (account) accounts.set('ada@corp', account)
  else accounts.delete('ada@corp')
  await fireNow(made)
  await eventually(() => newest(made.id)).toMatchObject({ state: 'SKIPPED', error: reason })
  expect(executions.created.size).toBe(0)
})

test('T7: same subject at another issuer: a different account', async () => {
  const { by, fireNow, newest } = await authFixture()
  const made = await by('ada', 'elsewhere')
  await fireNow(made)
  await eventually(() => newest(made.id)).toMatchObject({
    error: expect.stringMatching('does not exist'),
  })
})

test('T7: schedule created while authentication was off: the tick is skipped', async () => {
  const { by, fireNow, newest } = await authFixture()
  const made = await by('', '')
  await fireNow(made)
  await eventually(() => newest(made.id)).toMatchObject({
    state: 'SKIPPED',
    error: expect.stringMatching(
      '^not allowed: the schedule was created while authentication was off',
    ),
  })
})

test('T7: account named while authentication was off: skipped until an authenticated caller updates it', async () => {
  const { client, fireNow, newest, executions } = await authFixture()
  const named = { ...request(), run_as_service_account: 'robot' }
  const made = await client.create(named, asker('', ''))
  await fireNow(made)
  await eventually(() => newest(made.id)).toMatchObject({
    state: 'SKIPPED',
    error: expect.stringMatching('the schedule was changed while authentication was off'),
  })
  expect(executions.created.size).toBe(0)
  await client.update({ ref: made.id, description: 'x', may_name_accounts: true }, asker('ada'))
  await fireNow(made)
  await eventually(() => executions.created.size).toBe(1)
  expect(starterOf(executions.submitted[0])).toBe('robot')
})

test('account named anonymously: removed by the change of a caller that may not name it', async () => {
  const { client, fireNow, executions } = await authFixture()
  const named = { ...request(), run_as_service_account: 'robot' }
  const made = await client.create(named, asker('', ''))
  await client.update({ ref: made.id, description: 'x' }, asker('ada'))
  await fireNow(made)
  await eventually(() => executions.created.size).toBe(1)
  expect(starterOf(executions.submitted[0])).toBe('ada')
})

test('T7: run_as_service_account: the account applies; without it, the last changer', async () => {
  const { client, by, fireNow, newest, executions } = await authFixture()
  const made = await by('bob', 'corp')
  const { id: ref } = made
  await client.update({ ref, run_as_service_account: 'robot' }, asker('bob'))
  await fireNow(made)
  await eventually(() => executions.created.size).toBe(1)
  expect(starterOf(executions.submitted[0])).toBe('robot')

  await client.update({ ref, run_as_service_account: '' }, asker('bob'))
  await fireNow(made)
  await eventually(() => newest(made.id)).toMatchObject({
    error: expect.stringMatching("'bob' does not exist"),
  })
  await client.update({ ref, description: 'x' }, asker('ada'))
  await fireNow(made)
  await eventually(() => executions.created.size).toBe(2)
  expect(starterOf(executions.submitted.at(-1))).toBe('ada')
})

test('T7: declared schedule: runs as the uploader of the version', async () => {
  const { client, catalog, accounts, db, executions } = await authFixture()
  accounts.set('uploader@corp', { enabled: true, permissions: ['workflow:team:declared:run'] })
  const workflow = catalog.put('team', 'declared', { type: 'interval', interval_seconds: 3_600 })
  Object.assign(workflow, { created_by_issuer: 'corp' })
  await client.reconcile({ workflow_namespace: 'team', workflow_name: 'declared' })
  await makeOverdue(db, await client.get({ ref: 'declared_auto' }), 1, 3_600)
  await eventually(() => executions.created.size).toBe(1)
  expect(starterOf(executions.submitted[0])).toBe('uploader')
})

test('T7: identity unavailable: the tick is started later', async () => {
  const { identity, db, by, fireNow, executions } = await authFixture()
  identity.script.down = true
  const made = await by('ada', 'corp')
  await fireNow(made)
  await eventually(() =>
    db.rows(sql`select from schedule_ticks where status = 'pending' and retry_at > now()`),
  ).toHaveLength(1)
  expect(executions.created.size).toBe(0)
  identity.script.down = false
  await db.run(sql`update schedule_ticks set retry_at = now()`)
  await eventually(() => executions.created.size).toBe(1)
})
