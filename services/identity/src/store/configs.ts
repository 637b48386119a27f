import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { EntryScope } from '../domain/entry-scope.ts'

export interface ConfigRow extends EntryScope {
  name: string
  value_json: string
}

/** Configs by name, without their values. */
export const listAll = (db: Queries) =>
  db.rows<EntryScope & { name: string }>(
    sql`select name, namespaces, workflows from configs order by name`,
  )

/** Locks a config until the end of the transaction and returns its scope. */
export const lockScope = (db: Queries, name: string) =>
  db.maybe<EntryScope>(
    sql`select namespaces, workflows from configs where name = ${name} for update`,
  )

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
