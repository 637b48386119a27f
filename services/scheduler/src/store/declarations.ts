import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

export interface Declaration {
  workflow_namespace: string
  workflow_name: string
  /** Version that was reconciled last. */
  workflow_id: string
  /** Declared configuration, if any. */
  schedule_config: string | undefined
  /** Schedule that was created for it; a client may have deleted it since. */
  schedule_id: string | undefined
}

export type WorkflowName = Pick<Declaration, 'workflow_namespace' | 'workflow_name'>

/** Serializes reconciliations of one workflow. */
export const lock = (tx: Tx, { workflow_namespace, workflow_name }: WorkflowName) =>
  tx.run(sql`
    select pg_advisory_xact_lock(hashtextextended(${`declares ${workflow_namespace}/${workflow_name}`}, 0))`)

export const find = (tx: Tx, { workflow_namespace, workflow_name }: WorkflowName) =>
  tx.maybe<Declaration>(sql`
    select workflow_namespace, workflow_name, workflow_id, schedule_config, schedule_id
      from declarations
     where workflow_namespace = ${workflow_namespace} and workflow_name = ${workflow_name}`)

export const save = (tx: Tx, declaration: Declaration) =>
  tx.run(sql`
    insert into declarations (
      workflow_namespace, workflow_name, workflow_id, schedule_config, schedule_id)
    values (
      ${declaration.workflow_namespace}, ${declaration.workflow_name}, ${declaration.workflow_id},
      ${declaration.schedule_config}, ${declaration.schedule_id})
    on conflict (workflow_namespace, workflow_name) do update
       set workflow_id = excluded.workflow_id, schedule_config = excluded.schedule_config,
           schedule_id = excluded.schedule_id`)

export const remove = (tx: Tx, { workflow_namespace, workflow_name }: WorkflowName) =>
  tx.run(sql`
    delete from declarations
     where workflow_namespace = ${workflow_namespace} and workflow_name = ${workflow_name}`)

/** Version of each workflow that was reconciled last. */
export const listSeen = (db: Queries) =>
  db.rows<WorkflowName & { workflow_id: string }>(
    sql`select workflow_namespace, workflow_name, workflow_id from declarations`,
  )
