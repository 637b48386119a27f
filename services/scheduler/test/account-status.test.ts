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

/** In whose name an execution was started, by the signed statement that executions believes. */
const starterOf = (asked: { body?: { value: unknown } | undefined } | undefined) => {
  const create = asked?.body?.value as { caller: string } | undefined
  return verifiedStarter(create?.caller ?? '', 'scheduler')?.subject
}

const RUN = 'workflow:team:report:run'
const AUTH_ON = {
  SVC_SECURITY__AUTH__ENABLED: 'true',
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: 'a secret of the tests',
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'another one',
}

/** Authentication is on, and there are `ada@corp`, who may run the workflow, and the account `robot`. */
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

test('a tick runs with the rights of who made the schedule, at the moment it fires; without them it is skipped and the next one is tried (T7)', async () => {
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
  ['is gone', undefined, "not allowed: there is no 'ada' any more"],
])('one who %s runs nothing (T7)', async (_, account, reason) => {
  const { accounts, by, fireNow, newest, executions } = await authFixture()
  const made = await by('ada', 'corp')
  if (account) accounts.set('ada@corp', account)
  else accounts.delete('ada@corp')
  await fireNow(made)
  await eventually(() => newest(made.id)).toMatchObject({ state: 'SKIPPED', error: reason })
  expect(executions.created.size).toBe(0)
})

test('the same subject at another issuer is somebody else (T7)', async () => {
  const { by, fireNow, newest } = await authFixture()
  const made = await by('ada', 'elsewhere')
  await fireNow(made)
  await eventually(() => newest(made.id)).toMatchObject({
    error: expect.stringMatching('there is no'),
  })
})

test("what was made while authentication was off is nobody's (T7)", async () => {
  const { by, fireNow, newest } = await authFixture()
  const made = await by('', '')
  await fireNow(made)
  await eventually(() => newest(made.id)).toMatchObject({
    state: 'SKIPPED',
    error: expect.stringMatching("^not allowed: the schedule is nobody's"),
  })
})

test('a named account runs it, whoever made it; taking the name away makes it its changer’s (T7)', async () => {
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
    error: expect.stringMatching("there is no 'bob'"),
  })
  await client.update({ ref, description: 'x' }, asker('ada'))
  await fireNow(made)
  await eventually(() => executions.created.size).toBe(2)
  expect(starterOf(executions.submitted.at(-1))).toBe('ada')
})

test('a declared schedule runs as its uploader (T7)', async () => {
  const { client, catalog, accounts, db, executions } = await authFixture()
  accounts.set('uploader@corp', { enabled: true, permissions: ['workflow:team:declared:run'] })
  const workflow = catalog.put('team', 'declared', { type: 'interval', interval_seconds: 3_600 })
  Object.assign(workflow, { created_by_issuer: 'corp' })
  await client.reconcile({ workflow_namespace: 'team', workflow_name: 'declared' })
  await makeOverdue(db, await client.get({ ref: 'declared_auto' }), 1, 3_600)
  await eventually(() => executions.created.size).toBe(1)
  expect(starterOf(executions.submitted[0])).toBe('uploader')
})

test('while it cannot be told who may do what, the tick waits and is started later (T7)', async () => {
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
