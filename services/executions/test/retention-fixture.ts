import { setTimeout as pause } from 'node:timers/promises'
import { newId } from '@windlass/runtime/ids'
import type { ObjectStore } from '@windlass/runtime/object-store/object-store'
import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { freshDatabase, openTestDb } from '@windlass/testkit/database'
import { expect } from 'vitest'
import { createRetentionSweep, type RetentionSettings } from '../src/loops/retention.ts'
import { saveRequirement } from '../src/store/ready.ts'
import { lockCursor } from '../src/store/relay-cursor.ts'
import { REQUIREMENT_ID } from './seed-rows.ts'

/** A finished execution with its log. */
export interface Finished {
  execution_id?: string
  workflow?: string
  /** Since its end; it was created an hour earlier. */
  days?: number
  depth?: number
  parent_id?: string
  request_hash?: string
  state?: 'COMPLETED' | 'FAILED' | 'SCHEDULED'
  events?: number
  /** Partition of its log. */
  log_part?: number
}

/** A database without a service: nothing but the test reads the ends. */
export async function withExecutions(...rows: Finished[]) {
  const db = openTestDb(await freshDatabase('executions', MIGRATIONS), 'executions')
  const ids = await seed(db, rows)
  await readEnds(db)
  return { db, ids }
}

const MIGRATIONS = new URL('../migrations/', import.meta.url)

/** Inserts executions as the writer leaves them, with rows, logs and totals. Returns their ids. */
export async function seed(db: Db, rows: readonly Finished[]): Promise<string[]> {
  await saveRequirement(db, REQUIREMENT_ID, '{}')
  const ids: string[] = []
  for (const { execution_id = newId(), ...row } of rows) {
    await insert(db, execution_id, row)
    ids.push(execution_id)
  }
  return ids
}

const insert = (db: Db, id: string, row: Omit<Finished, 'execution_id'>) => {
  const { workflow = 'default/report', days = 100, state = 'COMPLETED', events = 2 } = row
  const { log_part = 0 } = row
  const [namespace, name] = workflow.split('/')
  const ended = sql`clock_timestamp() - ${days}::float8 * interval '1 day'`
  const isFinished = state !== 'SCHEDULED'
  return db.tx((tx) =>
    Promise.all([
      tx.run(sql`
        insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
          workflow_version, requirement_id, state, input, depth, parent_id, request_hash, last_seq,
          log_part, created_at, finished_at, queued_at)
        values (${id}, ${newId()}, ${namespace}, ${name}, 1, ${REQUIREMENT_ID}, ${state}, '1',
          ${row.depth ?? 0}, ${row.parent_id ?? null}, ${row.request_hash ?? ''}, ${events},
          ${log_part}, ${ended} - interval '1 hour', case when ${isFinished} then ${ended} end,
          case when ${isFinished} then null else ${ended} end)`),
      tx.run(sql`
        insert into events (execution_id, seq, event_id, type, source_id, name, value, time, part)
        select ${id}, seq, seq::text,
               case when seq = ${events} and ${isFinished} then 'WORKFLOW_' || ${state}::text
                    else 'TASK_COMPLETED' end, 's', 'n', '2', '', ${log_part}::int
          from generate_series(1, ${events}::bigint) as seq`),
      tx.run(sql`
        insert into totals_delta (workflow_namespace, workflow_name, state, delta)
        values (${namespace}, ${name}, ${state}, 1)`),
    ]),
  )
}

const READERS = ['executions', 'wake', 'children'] as const

/**
 * Moves the readers of terminal events behind everything that is committed. Waits for a reader of a service that is at
 * work: it would move its cursor back afterwards.
 */
export const readEnds = (db: Db) =>
  db.tx(async (tx) => {
    for (const name of READERS) while (!(await lockCursor(tx, name))) await pause(10)
    await tx.run(sql`
      insert into relay_cursor (name, xid, execution_id, seq)
      select name, pg_current_xact_id(), '00000000-0000-0000-0000-000000000000', 0
        from unnest(${READERS}::text[]) as reader(name)
      on conflict (name) do update set xid = excluded.xid`)
  })

const rules: RetentionSettings = {
  retention_days: 30,
  namespaces: {},
  workflows: {},
  max_executions: 0,
  log_days: 0,
  approval_days: 0,
  batch_size: 500,
}

/** Runs complete sweeps under these settings. */
export async function sweep(
  db: Db,
  settings: Partial<RetentionSettings> = {},
  { replicas = 1, objects }: { replicas?: number; objects?: ObjectStore } = {},
) {
  const log = { info: () => {} }
  await Promise.all(
    Array.from({ length: replicas }, async () => {
      const round = createRetentionSweep({ db, settings: { ...rules, ...settings }, log, objects })
      while (await round());
    }),
  )
}

const HANG_MS = 100_000

/**
 * Waits until no transaction of the server is older than what is committed now. Until then a vacuum does not free all
 * of it: rows are kept for snapshots of the same database, and deleted index pages for those of any database, such as
 * that of a test that runs at the same time.
 */
export async function waitForOlderTransactions(db: Db): Promise<void> {
  const row = await db.maybe<{ xid: string }>(sql`select pg_current_xact_id()::xid::text as xid`)
  const older = () =>
    db.rows(sql`
      select datname, query from pg_stat_activity
       where greatest(age(backend_xid), age(backend_xmin)) > age(${row?.xid}::text::xid)`)
  await expect.poll(older, { timeout: HANG_MS, interval: 20 }).toEqual([])
}

export const idsIn = async (
  db: Db,
  table: 'executions' | 'events' | 'approvals' | 'captured_lines',
) => {
  const from = {
    ...{ executions: sql`executions`, events: sql`events`, approvals: sql`approvals` },
    captured_lines: sql`captured_lines`,
  }
  const rows = await db.rows<{ execution_id: string }>(
    sql`select distinct execution_id from ${from[table]}`,
  )
  return new Set(rows.map(({ execution_id }) => execution_id))
}
