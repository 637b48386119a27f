import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { Sql, sql } from '@windlass/runtime/postgres/sql'
import { ofLog } from './log.ts'

/** Tables of an archive. Rows of a table become objects whose members are its columns. */
export type ArchivedTable =
  | 'requirements'
  | 'executions'
  | 'events'
  | 'approvals'
  | 'captured_lines'

interface Column {
  name: string
  type: string
}

/** Columns by table, as they are in this database: a release may add columns. */
export type Columns = Record<ArchivedTable, Column[]>

/**
 * The commit order has no meaning in another database, and a restored event is not published again. Restored
 * logs belong to the partition that is never dropped.
 */
const LEFT_OUT = new Set(['xid', 'log_deleted', 'restored_at', 'part', 'log_part'])

export async function readColumns(db: Queries): Promise<Columns> {
  const rows = await db.rows<Column & { table_name: ArchivedTable }>(sql`
    select c.relname as table_name, a.attname as name, format_type(a.atttypid, a.atttypmod) as type
      from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = current_schema()::regnamespace
       and c.relname in ('requirements', 'executions', 'events', 'approvals', 'captured_lines')
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     order by a.attnum`)
  const columns: Columns = {
    ...{ requirements: [], executions: [], events: [], approvals: [], captured_lines: [] },
  }
  for (const { table_name, name, type } of rows)
    if (!LEFT_OUT.has(name)) columns[table_name].push({ name, type })
  return columns
}

const text = (statement: string) => new Sql([statement], [])
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/**
 * Numbers and booleans are written as such, all other values as text, so that documents keep every
 * character.
 */
const PLAIN = new Set(['bigint', 'integer', 'smallint', 'double precision', 'boolean'])

/** Selects rows as JSON objects, one per line; `from` begins with the table `t`. */
const asObjects = (columns: readonly Column[], from: Sql) => sql`
  select jsonb_strip_nulls(to_jsonb(r))::text as line
    from (select ${text(columns.map(columnOf).join(', '))} ${from}) as r`

const columnOf = ({ name, type }: Column) =>
  PLAIN.has(type) ? `t.${quoted(name)}` : `t.${quoted(name)}::text as ${quoted(name)}`

interface Line {
  line: string
}

const linesOf = async (rows: Promise<Line[]>) => (await rows).map(({ line }) => line)

export const readRequirements = (db: Queries, columns: Columns, ids: readonly string[]) =>
  linesOf(
    db.rows<Line>(
      asObjects(
        columns.requirements,
        sql`from requirements t where t.requirement_id in (
              select requirement_id from executions where execution_id = any(${ids}::uuid[]))`,
      ),
    ),
  )

export const readExecution = async (db: Queries, columns: Columns, id: string) =>
  (
    await linesOf(
      db.rows<Line>(
        asObjects(columns.executions, sql`from executions t where t.execution_id = ${id}`),
      ),
    )
  )[0]

export const readApprovals = (db: Queries, columns: Columns, id: string) =>
  linesOf(
    db.rows<Line>(
      asObjects(
        columns.approvals,
        sql`from approvals t where t.execution_id = ${id} order by t.requested_at`,
      ),
    ),
  )

/** A page of a log or of captured lines, after a sequence number. */
export const readSequence = (
  db: Queries,
  columns: Columns,
  table: 'events' | 'captured_lines',
  { id, after, limit }: { id: string; after: number; limit: number },
) =>
  db.rows<{ line: string; seq: number }>(sql`
    select line, (line::jsonb->>'seq')::bigint as seq from (${asObjects(
      columns[table],
      sql`from ${text(table)} t where ${ofLog(id)} and t.seq > ${after}
          order by t.seq limit ${limit}`,
    )}) as page`)

/**
 * Inserts archived rows and returns the number of those that did not exist. Members without a column in
 * this database are left out; columns without a member get their defaults.
 */
export async function insertRows(
  tx: Tx,
  columns: Columns,
  table: ArchivedTable,
  rows: readonly Record<string, unknown>[],
): Promise<number> {
  const [first] = rows
  if (!first) return 0
  const all = new Set(rows.flatMap(Object.keys))
  const known = columns[table].filter(({ name }) => all.has(name))
  const names = known.map(({ name }) => quoted(name)).join(', ')
  const values = known.map(({ name, type }) => `(r->>'${name.replaceAll("'", "''")}')::${type}`)
  // Puts the events before the position of every reader of terminal events.
  const [xid, zero] = table === 'events' ? [', xid', ", '0'"] : ['', '']
  return tx.run(sql`
    insert into ${text(`${table} (${names}${xid})`)}
    select ${text(values.join(', ') + zero)}
      from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as r
    on conflict do nothing`)
}

/** Adds a restored execution to the totals and its tags to their index; its age counts from now. */
export const recordRestored = (tx: Tx, execution_id: string) =>
  tx.run(sql`
    with restored as (
      update executions set restored_at = clock_timestamp() where execution_id = ${execution_id}
      returning workflow_namespace, workflow_name, state, created_at, tags),
    tagged as (
      insert into execution_tags (key, value, created_at, execution_id)
      select tag.key, tag.value, r.created_at, ${execution_id}::uuid
        from restored r cross join json_each_text(r.tags) as tag
      on conflict do nothing),
    forgotten as (delete from deleted_executions where execution_id = ${execution_id})
    insert into totals_delta (workflow_namespace, workflow_name, state, delta)
    select workflow_namespace, workflow_name, state, 1 from restored`)

/** True while the log of a deleted execution is still being deleted. */
export async function isBeingDeleted(tx: Tx, execution_id: string): Promise<boolean> {
  const row = await tx.maybe<{ has_log: boolean }>(sql`
    select has_log from deleted_executions where execution_id = ${execution_id} for update`)
  return row?.has_log ?? false
}
