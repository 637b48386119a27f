import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/** A version of a workflow that read a config. */
export interface ConfigUse {
  config: string
  namespace: string
  workflow: string
  version: number
  used_at: Date
  execution_id: string
}

export interface ConfigUseRow extends Omit<ConfigUse, 'used_at' | 'execution_id'> {
  first_used_at: Date
  last_used_at: Date
  last_execution_id: string
}

/** Inserts or updates one row for each use, in the order of the key. Uses of a deleted config are left out. */
export const save = (db: Queries, uses: readonly ConfigUse[]) =>
  db.run(sql`
    insert into config_uses
           (config, namespace, workflow, version, first_used_at, last_used_at, last_execution_id)
    select configs.name, used.namespace, used.workflow, used.version, used.at, used.at,
           used.execution_id
      from unnest(${uses.map(({ config }) => config)}::text[],
                  ${uses.map(({ namespace }) => namespace)}::text[],
                  ${uses.map(({ workflow }) => workflow)}::text[],
                  ${uses.map(({ version }) => version)}::int[],
                  ${uses.map(({ used_at }) => used_at)}::timestamptz[],
                  ${uses.map(({ execution_id }) => execution_id)}::text[])
           as used (config, namespace, workflow, version, at, execution_id)
      join configs on configs.name = used.config
     order by 1, 2, 3, 4
       for key share of configs
    on conflict (config, namespace, workflow, version) do update
      set last_used_at = excluded.last_used_at, last_execution_id = excluded.last_execution_id
    where config_uses.last_used_at < excluded.last_used_at`)

interface UseFilter {
  /** Empty: every config. */
  config: string
  /** Empty: every workflow. */
  namespace: string
  workflow: string
}

/** One row for each config and workflow, of the newest version that read it; the last reads first. */
export const list = (db: Queries, { config, namespace, workflow }: UseFilter, limit: number) =>
  db.rows<ConfigUseRow>(sql`
    select * from (
      select distinct on (config, namespace, workflow)
             config, namespace, workflow, version, first_used_at, last_used_at, last_execution_id
        from config_uses
       where (${config} = '' or config = ${config})
         and (${workflow} = '' or (namespace = ${namespace} and workflow = ${workflow}))
       order by config, namespace, workflow, version desc
    ) as latest
     order by last_used_at desc, config, namespace, workflow
     limit ${limit}`)

/** Deletes rows that were not used for so many days. */
export const deleteOlder = (db: Queries, days: number) =>
  db.run(sql`delete from config_uses where last_used_at < now() - ${days}::int * interval '1 day'`)
