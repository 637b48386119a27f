import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { toDurableMessage } from '@windlass/runtime/postgres/outbox'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import {
  callAs,
  eventually,
  historyPage,
  makeOverdue,
  request,
  schedulerFixture,
} from './scheduler-fixture.ts'

/** A schedule with one started, unfinished execution. */
async function firedFixture() {
  const system = await schedulerFixture()
  const client = await system.replica()
  const made = await client.create(request())
  await makeOverdue(system.db, made, 1, 3_600)
  await eventually(async () => (await client.get({ ref: made.id })).run_count).toBe(1)
  const execution = [...system.executions.created.values()][0] as Execution
  const entries = async () => (await client.history(historyPage(made.id))).entries
  return { ...system, client, made, execution, entries }
}

test('execution_finished: the history has the result and the error', async () => {
  const { bus, executions, execution, entries, made } = await firedFixture()
  Object.assign(execution, { state: 'FAILED', output_json: '{"type":"E","message":"no disk"}' })
  const { execution_id, workflow_namespace, workflow_name } = execution
  const value = {
    execution_id,
    state: 'FAILED',
    workflow_namespace,
    workflow_name,
    schedule_id: made.id,
  }

  await bus.publishDurable([
    toDurableMessage('executions', execution_id, { $case: 'execution_finished', value }),
  ])
  await eventually(entries).toMatchObject([
    { execution_id, state: 'FAILED', completed_at: expect.any(Date), error: 'no disk' },
  ])
  expect(executions.script.gets).toBeGreaterThan(0)
})

test('N155: forged execution_finished: the result is read from executions, nothing changes', async () => {
  const { bus, executions, execution, entries, made } = await firedFixture()
  const { execution_id, workflow_namespace, workflow_name } = execution
  const forged = { workflow_namespace, workflow_name, schedule_id: made.id, state: 'COMPLETED' }
  const before = await entries()
  for (const id of [execution_id, '0'.repeat(32)]) {
    const value = { ...forged, execution_id: id }
    await bus.publishDurable([
      toDurableMessage('executions', id, { $case: 'execution_finished', value }),
    ])
  }
  await eventually(() => executions.script.gets).toBeGreaterThanOrEqual(2)
  expect(await entries()).toEqual(before)
})

test('lost execution_finished: the result is found by polling', async () => {
  const { db, execution, entries } = await firedFixture()
  execution.state = 'RUNNING'
  await db.run(sql`update schedule_ticks set check_at = now()`)
  await eventually(entries).toMatchObject([{ state: 'RUNNING', completed_at: undefined }])

  Object.assign(execution, { state: 'COMPLETED', updated_at: new Date('2026-01-01T00:00:00Z') })
  await db.run(sql`update schedule_ticks set check_at = now()`)
  await eventually(entries).toMatchObject([
    { state: 'COMPLETED', completed_at: new Date('2026-01-01T00:00:00Z'), error: undefined },
  ])
  expect(await db.rows(sql`select from schedule_ticks where check_at is not null`)).toEqual([])
})

test('update: keeps the history, which is paged newest first', async () => {
  const { db, client, made } = await firedFixture()
  await client.update({ ref: made.id, description: 'new' }, callAs('bob'))
  await makeOverdue(db, made, 1, 3_600)
  await eventually(async () => (await client.get({ ref: made.id })).run_count).toBe(2)

  const { entries, total, schedule_id, workflow_name } = await client.history(
    historyPage(made.name, 1),
  )
  expect({ total, schedule_id, workflow_name }).toEqual({
    total: 2,
    schedule_id: made.id,
    workflow_name: 'report',
  })
  const older = await client.history({ ref: made.id, limit: 1, offset: 1 })
  const [newest, oldest] = [entries[0]?.scheduled_for, older.entries[0]?.scheduled_for]
  expect(newest?.getTime()).toBeGreaterThan(oldest?.getTime() as number)
})
