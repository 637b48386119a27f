import { InputSchemaCache } from '@windlass/domain/input/input-schemas'
import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import { connect } from '@windlass/rpc/client'
import { sql } from '@windlass/runtime/postgres/sql'
import { createLog } from '@windlass/runtime/process/log'
import { testIdentity } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { fire } from '../src/engine/fire.ts'
import { startExecutions } from '../src/engine/start-executions.ts'
import {
  derivedId,
  eventually,
  everySeconds,
  historyPage,
  makeOverdue,
  request,
  schedulerFixture,
} from './scheduler-fixture.ts'

test('T1: replica dies between taking and starting a tick: another starts it once', async () => {
  const { db, replica, executions } = await schedulerFixture()
  executions.script.mode = 'down'
  const first = await replica()
  const made = await first.create(request())
  await makeOverdue(db, made, 1, 3_600)
  await eventually(() =>
    db.rows(sql`select from schedule_ticks where status = 'pending'`),
  ).toHaveLength(1)
  await first.stop()
  executions.script.mode = 'healthy'
  await db.run(sql`update schedule_ticks set retry_at = now()`)

  const [second] = [await replica(), await replica()]
  await eventually(() => executions.created.size).toBe(1)
  await eventually(async () => second?.get({ ref: made.id })).toMatchObject({
    run_count: 1,
    failure_count: 0,
  })
})

test('T1: lost reply: nothing starts twice, and the schedule waits for the outcome', async () => {
  const { db, replica, executions } = await schedulerFixture()
  executions.script.mode = 'reply_lost'
  const client = await replica()
  const made = await client.create(request({ config: everySeconds(1) }))
  await eventually(() => executions.submitted.length).toBeGreaterThanOrEqual(2)

  expect(new Set(executions.submitted.map(({ execution_id }) => execution_id))).toEqual(
    new Set([derivedId(made.id, made.next_run_at as Date)]),
  )
  executions.script.mode = 'healthy'
  await db.run(sql`update schedule_ticks set retry_at = now() where retry_at is not null`)
  await eventually(async () => (await client.get({ ref: made.id })).run_count).toBeGreaterThan(0)
})

test('tick not started within the catch-up window: skipped, unless an attempt succeeded', async () => {
  const { db, replica, executions } = await schedulerFixture({
    SVC_SCHEDULING__CATCHUP_WINDOW: '60',
  })
  executions.script.mode = 'down'
  const first = await replica()
  const lost = await first.create(request())
  const found = await first.create(request())
  await makeOverdue(db, lost, 1, 3_600)
  await makeOverdue(db, found, 1, 3_600)
  const pending = sql`select from schedule_ticks where status = 'pending' and attempts > 0`
  await eventually(() => db.rows(pending)).toHaveLength(2)
  await first.stop()

  await db.run(sql`
    update schedule_ticks
       set nominal_at = nominal_at - interval '1 day', retry_at = now(),
           submit_until = now() - interval '1 minute'`)
  const [tick] = await db.rows<{ execution_id: string }>(
    sql`select execution_id from schedule_ticks where schedule_id = ${found.id}`,
  )
  const id = tick?.execution_id as string
  executions.created.set(id, { ...EXECUTION, execution_id: id, workflow_id: found.workflow_id })
  executions.script.mode = 'healthy'
  const client = await replica()
  await eventually(async () => (await client.history(historyPage(lost.id))).entries).toMatchObject([
    { state: 'SKIPPED', execution_id: '' },
  ])
  await eventually(async () => (await client.history(historyPage(found.id))).entries).toMatchObject(
    [{ state: 'COMPLETED', execution_id: id }],
  )
})

const EXECUTION = {
  workflow_namespace: 'team',
  workflow_name: 'report',
  workflow_version: 1,
  state: 'COMPLETED',
  worker_name: '',
  claim_generation: 0,
  input_json: 'null',
  last_seq: 1,
  created_at: new Date(),
  updated_at: new Date(),
  worker_session: '',
}

/** A due tick without a running replica, and the dependencies to call the steps of one. */
async function overdueFixture() {
  const system = await schedulerFixture()
  const { db, catalog, executions, replica } = system
  const first = await replica()
  const made = await first.create(request())
  await first.stop()
  const serviceIdentity = testIdentity('scheduler')
  const clients = {
    catalog: connect(CatalogService, [catalog.address], serviceIdentity),
    executions: connect(ExecutionsService, [executions.address], serviceIdentity),
  }
  onTestFinished(() => Object.values(clients).forEach((one) => void one.close()))
  const log = createLog('test', 'silent')
  const known = { db, ...clients, principals: undefined, serviceIdentity, log }
  const inputSchemas = new InputSchemaCache()
  const quotas = { principal_schedules: 0, namespace_schedules: 0 }
  const deps = { ...known, inputSchemas, quotas, catchupMs: 3_600_000, wake: () => {} }
  await makeOverdue(db, made, 1, 3_600)
  return { ...system, made, deps }
}

test('T1: replica suspended until its lease expired: starts nothing; another replica starts the tick', async () => {
  const { db, executions, replica, deps } = await overdueFixture()
  const taken = await fire(deps)
  expect(taken).toHaveLength(1)
  await startExecutions(
    deps,
    taken.map((firing) => ({ ...firing, submit_before_ms: performance.now() })),
  )
  expect(executions.submitted).toEqual([])
  await db.run(sql`update schedule_ticks set retry_at = now()`)
  await replica()
  await eventually(() => executions.created.size).toBe(1)
})

test('T2, T3: pause between taking and starting a tick: the tick is skipped with a reason', async () => {
  const { db, executions, replica, deps, made } = await overdueFixture()
  const taken = await fire(deps)
  await db.run(sql`update schedules set status = 'paused'`)
  await startExecutions(deps, taken)
  expect(executions.submitted).toEqual([])
  // No attempt may start it any more.
  await db.run(sql`
    update schedule_ticks set retry_at = now(), submit_until = now() - interval '1 minute'`)
  const client = await replica()
  await eventually(async () => (await client.history(historyPage(made.id))).entries).toMatchObject([
    { state: 'SKIPPED', error: 'the schedule was paused before it could be started' },
  ])
  expect(executions.submitted).toEqual([])
})

test("T1: the database's clock was set back and a schedule resumed: no tick repeats, and none is blocked", async () => {
  const { db, replica, executions } = await schedulerFixture()
  const client = await replica()
  const repeated = await client.create(request({ config: everySeconds(60) }))
  await makeOverdue(db, repeated, 1, 60)
  await eventually(() => executions.created.size).toBe(1)
  await eventually(() =>
    db.rows(sql`select from schedule_ticks where status = 'started'`),
  ).toHaveLength(1)
  // As a resume sets it with such a clock: at a tick that has fired.
  const backTo = sql`select nominal_at from schedule_ticks where schedule_id = ${repeated.id}`
  const other = await client.create(request())
  await db.run(sql`update schedules set next_run_at = (${backTo}) where id = ${repeated.id}`)
  await makeOverdue(db, other, 1, 3_600)

  await eventually(() => executions.created.size).toBe(2)
  const [row] = await db.rows(sql`
    select pending, next_run_at > now() as is_ahead, tick_count::int as n from schedules where id = ${repeated.id}`)
  expect(row).toEqual({ pending: false, is_ahead: true, n: 1 })

  // The same for the ticks of a pause.
  await client.pause({ ref: repeated.id })
  await db.run(sql`update schedules set next_run_at = (${backTo}) where id = ${repeated.id}`)
  expect(await client.resume({ ref: repeated.id })).toMatchObject({ status: 'active' })
  expect((await client.history(historyPage(repeated.id))).total).toBe(1)
})
