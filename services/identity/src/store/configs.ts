import type { Entry } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

export const listNames = (db: Queries) =>
  db.rows<{ name: string }>(sql`select name from configs order by name`)

/** Creates or replaces; returns 0 if the name is new and `max` names exist. */
export const put = (db: Queries, { name, value_json }: Entry, max: number) =>
  db.run(sql`
    insert into configs (name, value_json)
    select ${name}::text, ${value_json}::json
     where exists (select from configs where name = ${name}::text)
        or (select count(*) from configs) < ${max}::int
    on conflict (name) do update set value_json = excluded.value_json, updated_at = now()`)

export const getMany = (db: Queries, names: readonly string[]) =>
  db.rows<Entry>(sql`select name, value_json from configs where name = any(${names}::text[])`)

export const remove = (db: Queries, name: string) =>
  db.run(sql`delete from configs where name = ${name}`)
