import type { OverlapPolicy } from '@windlass/domain/overlap'
import type { Visibility } from '@windlass/domain/visibility'
import { parseId } from '@windlass/runtime/ids'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { inScopes } from '@windlass/runtime/postgres/in-scopes'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { accountColumns } from './account-columns.ts'

export interface ScheduleRow {
  id: string
  name: string
  workflow_id: string
  workflow_namespace: string
  workflow_name: string
  description: string | undefined
  schedule_type: string
  schedule_config: string
  run_as_service_account: string | undefined
  changed_by: string
  changed_by_issuer: string
  /** True if a client changed a declared schedule; new versions then do not change its owner. */
  changed_by_client: boolean
  overlap: OverlapPolicy
  status: 'active' | 'paused'
  anchor_at: Date
  next_run_at: Date | undefined
  last_run_at: Date | undefined
  run_count: number
  failure_count: number
  tick_count: number
  /** Reason why the latest version refuses the input. */
  input_problem: string | undefined
  created_at: Date
  updated_at: Date
}

export type NewSchedule = Pick<
  ScheduleRow,
  | 'id'
  | 'name'
  | 'workflow_id'
  | 'workflow_namespace'
  | 'workflow_name'
  | 'description'
  | 'schedule_type'
  | 'schedule_config'
  | 'run_as_service_account'
  | 'changed_by'
  | 'changed_by_issuer'
  | 'overlap'
  | 'anchor_at'
  | 'next_run_at'
  | 'input_problem'
> & { input: string }

export interface Filter {
  workflow_namespace: string
  workflow_name: string
  active_only: boolean
  visible: Visibility
  limit: number
  offset: number
}

const columns = sql`
  id, name, workflow_id, workflow_namespace, workflow_name, description, schedule_type,
  schedule_config, run_as_service_account, changed_by, changed_by_issuer, changed_by_client, overlap, status,
  anchor_at, next_run_at, last_run_at, run_count, failure_count, tick_count, input_problem, created_at,
  updated_at`

/** Returns undefined if the name is taken. */
export const insert = (db: Queries, row: NewSchedule) =>
  db.maybe<ScheduleRow>(sql`
    insert into schedules (
      id, name, workflow_id, workflow_namespace, workflow_name, description, schedule_type,
      schedule_config, input, input_bytes, run_as_service_account, changed_by, changed_by_issuer,
      overlap, anchor_at, next_run_at, input_problem)
    values (
      ${row.id}, ${row.name}, ${row.workflow_id}, ${row.workflow_namespace}, ${row.workflow_name},
      ${row.description}, ${row.schedule_type}, ${row.schedule_config}, ${row.input},
      ${Buffer.byteLength(row.input)}, ${row.run_as_service_account}, ${row.changed_by},
      ${row.changed_by_issuer}, ${row.overlap}, ${row.anchor_at}, ${row.next_run_at},
      ${row.input_problem})
    on conflict (name) do nothing
    returning ${columns}`)

/** Matches an id, with or without dashes, or a name. No name has the form of an id. */
function matchesRef(ref: string) {
  const id = parseId(ref)
  return id ? sql`id = ${id}` : sql`name = ${ref.normalize('NFC')}`
}

export const find = (db: Queries, ref: string) =>
  db.maybe<ScheduleRow>(sql`select ${columns} from schedules where ${matchesRef(ref)}`)

export const lock = (tx: Tx, ref: string) =>
  tx.maybe<ScheduleRow>(sql`select ${columns} from schedules where ${matchesRef(ref)} for update`)

export async function list(db: Queries, filter: Filter) {
  const { workflow_namespace, workflow_name, active_only, visible, limit, offset } = filter
  const matching = sql`
    from schedules
     where (${workflow_namespace} = '' or workflow_namespace = ${workflow_namespace})
       and (${workflow_name} = '' or workflow_name = ${workflow_name})
       and (not ${active_only}::boolean or status = 'active')
       and ${isVisible(visible)}`
  return page(db, matching, sql`order by created_at desc, id desc limit ${limit} offset ${offset}`)
}

/** Rows of one page, and the number of all that match. */
async function page(db: Queries, matching: Sql, ofPage: Sql) {
  const [schedules, [count]] = await Promise.all([
    db.rows<ScheduleRow>(sql`select ${columns} ${matching} ${ofPage}`),
    db.rows<{ total: number }>(sql`select count(*)::int as total ${matching}`),
  ])
  return { schedules, total: count?.total ?? 0 }
}

export interface Owner {
  namespace: string
  subject: string
  issuer: string
}

/** Counts the schedules that a principal created or last changed, and those of a namespace. */
export async function countByOwner(db: Queries, { namespace, subject, issuer }: Owner) {
  const row = await db.maybe<{ of_principal: number; in_namespace: number }>(sql`
    select (count(*) filter (where changed_by = ${subject} and changed_by_issuer = ${issuer}))::int
             as of_principal,
           (count(*) filter (where workflow_namespace = ${namespace}))::int as in_namespace
      from schedules`)
  return row ?? { of_principal: 0, in_namespace: 0 }
}

function isVisible(visible: Visibility) {
  if (visible.kind === 'all') return sql`true`
  return sql`(id = any(${visible.ids}::uuid[]) or ${inScopes(visible.workflows)})`
}

/**
 * Active schedules that will fire again and that the caller may see, the next one first. Returns the first
 * `limit` of them and the total.
 */
export async function listUpcoming(db: Queries, visible: Visibility, limit: number) {
  const matching = sql`
    from schedules
     where status = 'active' and next_run_at is not null
       and ${isVisible(visible)}`
  return page(db, matching, sql`order by next_run_at, id limit ${limit}`)
}

/** Stores the members that a caller or a new version can change. */
export const save = (tx: Tx, row: ScheduleRow) =>
  tx.maybe<ScheduleRow>(sql`
    update schedules
       set workflow_id = ${row.workflow_id}, description = ${row.description},
           schedule_type = ${row.schedule_type}, schedule_config = ${row.schedule_config},
           run_as_service_account = ${row.run_as_service_account}, changed_by = ${row.changed_by},
           changed_by_issuer = ${row.changed_by_issuer},
           changed_by_client = ${row.changed_by_client}, overlap = ${row.overlap},
           status = ${row.status}, anchor_at = ${row.anchor_at}, next_run_at = ${row.next_run_at},
           input_problem = ${row.input_problem}, updated_at = now()
     where id = ${row.id}
     returning ${columns}`)

export const saveInput = (tx: Tx, id: string, input: string) =>
  tx.run(sql`
    update schedules set input = ${input}, input_bytes = ${Buffer.byteLength(input)}
     where id = ${id}`)

/** Schedules of a workflow with their inputs, in id order, locked. */
export const lockInputs = (tx: Tx, workflow_namespace: string, workflow_name: string) =>
  tx.rows<Pick<ScheduleRow, 'id' | 'input_problem'> & { input: string }>(sql`
    select id, input, input_problem from schedules
     where workflow_namespace = ${workflow_namespace} and workflow_name = ${workflow_name}
     order by id for update`)

export const saveInputProblem = (tx: Tx, id: string, problem: string | undefined) =>
  tx.run(sql`update schedules set input_problem = ${problem} where id = ${id}`)

/** Deletes a schedule; `purge` deletes its ticks in batches. */
export async function remove(tx: Tx, id: string): Promise<boolean> {
  const deleted = await tx.run(sql`delete from schedules where id = ${id}`)
  if (deleted > 0) await tx.run(sql`insert into deleted_schedules values (${id})`)
  return deleted > 0
}

export async function readInput(db: Queries, id: string): Promise<string | undefined> {
  const row = await db.maybe<{ input: string }>(sql`select input from schedules where id = ${id}`)
  return row?.input
}

/** Input of a schedule, with the account that its ticks run as. */
export interface ActiveInput {
  input: string
  run_as: string
  run_as_issuer: string
}

/**
 * Reads the inputs of those of these schedules that exist and are active, each in one statement with the
 * account that it belongs to.
 */
export async function readActiveInputs(
  db: Queries,
  ids: string[],
): Promise<Map<string, ActiveInput>> {
  const rows = await db.rows<ActiveInput & { id: string }>(sql`
    select s.id, s.input, ${accountColumns}
      from schedules s where s.id = any(${ids}::uuid[]) and s.status = 'active'`)
  return new Map(rows.map(({ id, ...input }) => [id, input]))
}
