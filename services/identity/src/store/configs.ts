import { createHash } from 'node:crypto'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { EntryScope } from '../domain/entry-scope.ts'

export interface ConfigRow extends EntryScope {
  name: string
  value_json: string
}

/** A config without its value. */
export interface ConfigState extends EntryScope {
  name: string
  value_hash: string
}

const state = sql`
  name, namespaces, workflows, encode(sha256(convert_to(value_json::text, 'UTF8')), 'hex') as value_hash`

/** Returns the `value_hash` that the state of a config with this value has. */
export const hashOfValue = (value_json: string): string =>
  createHash('sha256').update(value_json).digest('hex')

/** Configs by name. */
export const listAll = (db: Queries) =>
  db.rows<ConfigState>(sql`select ${state} from configs order by name`)

/** Locks the name of a config, which may be new, until the end of the transaction. */
export async function lock(tx: Tx, name: string): Promise<ConfigState | undefined> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtext(${`config ${name}`}))`)
  return tx.maybe<ConfigState>(sql`select ${state} from configs where name = ${name} for update`)
}

/** Creates or replaces; returns 0 if the name is new and `max` names exist. */
export const put = (
  db: Queries,
  { name, value_json, namespaces, workflows }: ConfigRow,
  max: number,
) =>
  db.run(sql`
    insert into configs (name, value_json, namespaces, workflows)
    select ${name}::text, ${value_json}::json, ${namespaces}::text[], ${workflows}::text[]
     where exists (select from configs where name = ${name}::text)
        or (select count(*) from configs) < ${max}::int
    on conflict (name) do update
      set value_json = excluded.value_json, namespaces = excluded.namespaces,
          workflows = excluded.workflows, updated_at = now()`)

export const getMany = (db: Queries, names: readonly string[]) =>
  db.rows<ConfigRow>(sql`
    select name, value_json, namespaces, workflows from configs
     where name = any(${names}::text[])`)

export const remove = (db: Queries, name: string) =>
  db.run(sql`delete from configs where name = ${name}`)
