import { createHash, randomBytes } from 'node:crypto'
import type { Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { SchedulerService } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { openBus } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import { toDurableMessage } from '@windlass/runtime/postgres/outbox'
import { sql } from '@windlass/runtime/postgres/sql'
import { createLog } from '@windlass/runtime/process/log'
import { freshDatabase, openTestDb, testUrl } from '@windlass/testkit/database'
import { startService } from '@windlass/testkit/service'
import { clientOf } from '@windlass/testkit/service-identity'
import { expect, onTestFinished } from 'vitest'
import { start } from '../src/server.ts'
import { fakeCatalog, fakeExecutions, fakePrincipals } from './fakes.ts'

/**
 * A new database, fakes of catalog (with the workflow `team/report`), executions and identity, and
 * replicas on demand.
 */
export async function schedulerFixture(
  env: Record<string, string> = {},
  /** Changes the database URL of the replicas. */
  toReplicaUrl = (url: URL) => url,
) {
  const database = await freshDatabase('scheduler', new URL('../migrations/', import.meta.url))
  const db = openTestDb(database, 'scheduler')
  const catalog = await fakeCatalog()
  const executions = await fakeExecutions()
  const identity = await fakePrincipals()
  catalog.put('team', 'report')
  // All replicas of one system share durable consumers, so each test has its own subject prefix.
  const prefix = `test-${randomBytes(4).toString('hex')}`
  const bus = await openBus(testUrl('TEST_NATS_URL'), createLog('test', 'silent'), prefix)
  onTestFinished(() => bus.close())

  const replica = async () => {
    const { ports, stop } = await startService(start, {
      SVC_POSTGRES__URL: toReplicaUrl(new URL(database)).href,
      SVC_NATS__URL: testUrl('TEST_NATS_URL'),
      SVC_NATS__PREFIX: prefix,
      SVC_SERVICES__CATALOG: catalog.address,
      SVC_SERVICES__EXECUTIONS: executions.address,
      SVC_SERVICES__IDENTITY: identity.address,
      ...env,
    })
    const client = clientOf(SchedulerService, [`127.0.0.1:${ports.grpc}`], { caller: ADA })
    onTestFinished(() => client.close())
    return { ...client, stop }
  }
  /** Ends an execution, and publishes the event unless it is to be lost. */
  const finish = async (execution_id: string, state = 'COMPLETED', isPublished = true) => {
    const execution = executions.created.get(execution_id)
    if (!execution) throw new Error('no such execution')
    Object.assign(execution, { state, updated_at: new Date() })
    const { workflow_namespace, workflow_name } = execution
    const value = { execution_id, state, workflow_namespace, workflow_name, schedule_id: 'its own' }
    const event = toDurableMessage('executions', execution_id, {
      $case: 'execution_finished',
      value,
    })
    if (isPublished) await bus.publishDurable([event])
  }
  return { db, bus, catalog, executions, identity, replica, finish }
}

/** Call options with this caller. */
export const callAs = (subject: string, issuer = 'corp') => ({ caller: { subject, issuer } })

/** Visibility of a caller that may read all schedules. */
export const ALL = { all: true, workflows: [], ids: [] }

/** Default caller of the tests. */
export const ADA = callAs('ada').caller

const HANG_MS = 60_000

/** Polls until the expectation holds; the limit only ends a test that hangs. */
export const eventually: typeof expect.poll = (read) => expect.poll(read, { timeout: HANG_MS })

export const newName = () => `s-${randomBytes(4).toString('hex')}`

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

export const everySeconds = (interval_seconds: number) =>
  JSON.stringify({ type: 'interval', interval_seconds })

export const onceInHours = (hours: number) =>
  JSON.stringify({ type: 'once', run_time: inHours(hours) })

/** A request for a schedule of `team/report` that is not due within an hour. */
export const request = (given: { name?: string; config?: string; input_json?: string } = {}) => ({
  workflow_namespace: 'team',
  workflow_name: 'report',
  name: given.name ?? newName(),
  schedule_config_json: given.config ?? everySeconds(3_600),
  input_json: given.input_json ?? 'null',
})

/** First 128 bits of SHA-256 of schedule and nominal time: the documented execution id. */
export const derivedId = (schedule_id: string, nominal: Date) =>
  createHash('sha256').update(`${schedule_id}|${nominal.toISOString()}`).digest('hex').slice(0, 32)

/** Moves the next tick and the anchor of a schedule into the past, by `seconds`. */
export const makeOverdue = (db: Db, { id }: Schedule, seconds: number, interval: number) =>
  db.run(sql`
    update schedules
       set next_run_at = now() - ${seconds}::float8 * interval '1 s',
           anchor_at = now() - ${seconds + interval}::float8 * interval '1 s'
     where id = ${id}`)

/** Request for the newest entries of a history. */
export const historyPage = (ref: string, limit = 1_000) => ({ ref, limit, offset: 0 })
