import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import { sql } from '@windlass/runtime/postgres/sql'
import { verifiedStarter } from '@windlass/testkit/service-identity'
import { expect, test } from 'vitest'
import {
  callAs,
  eventually,
  everySeconds,
  makeOverdue,
  request,
  schedulerFixture,
} from './scheduler-fixture.ts'

const MALLORY = callAs('mallory')
const ROBOT = callAs('robot', INTERNAL_ISSUER)

/** A schedule of `team/report` that runs as the service account `robot`, and a read of its owner. */
async function robotSchedule(status: 'active' | 'paused' = 'active') {
  const system = await schedulerFixture()
  const client = await system.replica()
  const { id } = await client.create({ ...request(), run_as_service_account: 'robot' })
  if (status === 'paused') await client.pause({ ref: id })
  const ownerOf = (ref = id) =>
    system.db.maybe(sql`
      select run_as_service_account as account, changed_by from schedules where id = ${ref}`)
  return { ...system, client, id, ownerOf }
}

test.each([
  ['input', { input_json: '"rm"' }],
  ['configuration', { schedule_config_json: everySeconds(1_800) }],
  ['overlap', { overlap: 'skip' }],
])('%s changed by another principal: the schedule runs as that principal', async (_, change) => {
  const { client, id, ownerOf } = await robotSchedule()
  const changed = await client.update({ ref: id, ...change }, MALLORY)
  expect(changed.run_as_service_account).toBeUndefined()
  expect(await ownerOf()).toMatchObject({ account: undefined, changed_by: 'mallory' })
})

test('resumed by another principal: the schedule runs as that principal', async () => {
  const { client, id, ownerOf } = await robotSchedule('paused')
  const resumed = await client.resume({ ref: id }, MALLORY)
  expect(resumed).toMatchObject({ status: 'active' })
  expect(await ownerOf()).toMatchObject({ account: undefined, changed_by: 'mallory' })
})

test('resumed by another principal than its creator: runs as the one that resumed it', async () => {
  const { client, ownerOf } = await robotSchedule()
  const { id } = await client.create(request())
  await client.pause({ ref: id }, MALLORY)
  expect(await ownerOf(id)).toMatchObject({ changed_by: 'ada' })
  await client.resume({ ref: id, may_name_accounts: true }, callAs('root'))
  expect(await ownerOf(id)).toMatchObject({ changed_by: 'ada' })
  await client.pause({ ref: id }, MALLORY)
  await client.resume({ ref: id }, MALLORY)
  expect(await ownerOf(id)).toMatchObject({ changed_by: 'mallory' })
})

test('description changed, paused or active already: the account stays', async () => {
  const { client, id, ownerOf } = await robotSchedule()
  await client.update({ ref: id, description: 'x' }, MALLORY)
  await client.resume({ ref: id }, MALLORY)
  await client.pause({ ref: id }, MALLORY)
  expect(await ownerOf()).toMatchObject({ account: 'robot' })
})

test.each([
  ['the account itself', ROBOT, false],
  ['a caller that may name accounts', callAs('root'), true],
])('changed and resumed by %s: the account stays', async (_, caller, may_name_accounts) => {
  const { client, id, ownerOf } = await robotSchedule('paused')
  const change = { ref: id, input_json: '1', may_name_accounts }
  await client.update(change, caller)
  await client.resume({ ref: id, may_name_accounts }, caller)
  expect(await ownerOf()).toMatchObject({ account: 'robot' })
})

test('the same subject of another issuer: is not the account', async () => {
  const { client, id, ownerOf } = await robotSchedule()
  await client.update({ ref: id, input_json: '1' }, callAs('robot', 'corp'))
  expect(await ownerOf()).toMatchObject({ account: undefined })
})

const hourly = { type: 'cron', cron_expression: '0 * * * *' }

test('declared schedule with a client change: a new version does not run it as the uploader', async () => {
  const { client, catalog, db } = await robotSchedule()
  const reconcile = () =>
    client.reconcile({ workflow_namespace: 'team', workflow_name: 'declared' })
  const owner = () =>
    db.maybe(sql`
      select changed_by, run_as_service_account as account, input::text as input
        from schedules where name = 'declared_auto'`)
  catalog.put('team', 'declared', hourly, 'ann')
  await reconcile()
  catalog.put('team', 'declared', hourly, 'bob')
  await reconcile()
  expect(await owner()).toMatchObject({ changed_by: 'bob' })

  await client.update({ ref: 'declared_auto', input_json: '"rm"' }, MALLORY)
  catalog.put('team', 'declared', hourly, 'root')
  await reconcile()
  expect(await owner()).toMatchObject({ changed_by: 'mallory', input: '"rm"' })

  catalog.put('team', 'declared', { type: 'cron', cron_expression: '5 * * * *' }, 'root')
  await reconcile()
  expect(await owner()).toMatchObject({ changed_by: 'root', input: 'null', account: undefined })
})

test('input changed while a tick starts: the former account never gets the new input', async () => {
  const env = {
    SVC_SECURITY__AUTH__ENABLED: 'true',
    SVC_SECURITY__EXECUTION_TOKEN_SECRET: 'a secret of the tests',
    SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'another one',
  }
  const { db, identity, executions, replica } = await schedulerFixture(env)
  const client = await replica()
  for (const account of ['robot@svc', 'mallory@corp'])
    identity.accounts.set(account, { enabled: true, permissions: ['*'] })
  const made = await client.create({
    ...request({ input_json: '"good"' }),
    run_as_service_account: 'robot',
  })
  let changing: Promise<unknown> | undefined
  identity.script.beforeResolve = async () => {
    changing ??= client.update({ ref: made.id, input_json: '"rm"' }, MALLORY)
    await changing
  }
  await makeOverdue(db, made, 1, 3_600)
  await eventually(() => executions.submitted.length).toBeGreaterThan(0)
  const started = executions.submitted.map(({ body }) => {
    const { caller, input_json } = (body?.value ?? {}) as Record<string, string>
    return [verifiedStarter(caller ?? '', 'scheduler')?.subject, input_json]
  })
  expect(started).toEqual([['mallory', '"rm"']])
})
