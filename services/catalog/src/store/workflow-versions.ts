import type { Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/** Identity of a workflow. */
export interface WorkflowName {
  namespace: string
  name: string
}

/**
 * Takes the next version number of each workflow and locks its row until the transaction ends. Rows
 * are locked in name order, so uploads that share workflows queue up and never deadlock.
 */
export async function takeVersions(tx: Tx, names: WorkflowName[]): Promise<Map<string, number>> {
  const rows = await tx.rows<WorkflowName & { last_version: number }>(sql`
    insert into names (namespace, name, last_version)
    select namespace, name, 1
      from unnest(${names.map(({ namespace }) => namespace)}::text[],
                  ${names.map(({ name }) => name)}::text[]) as new (namespace, name)
     order by namespace collate "C", name collate "C"
    on conflict (namespace, name) do update set last_version = names.last_version + 1
    returning namespace, name, last_version`)
  return new Map(rows.map((row) => [keyOf(row), row.last_version]))
}

/** Returns numbers that `takeVersions` took in the same transaction and that are not used. */
export const returnVersions = (tx: Tx, names: WorkflowName[]): Promise<number> =>
  tx.run(sql`
    update names set last_version = last_version - 1
     where (namespace, name) in (
       select * from unnest(${names.map(({ namespace }) => namespace)}::text[],
                            ${names.map(({ name }) => name)}::text[]))`)

/** Locks a workflow until the transaction ends; returns false if it never existed. */
export async function lockWorkflow(tx: Tx, { namespace, name }: WorkflowName): Promise<boolean> {
  const row = await tx.maybe(sql`
    select last_version from names where namespace = ${namespace} and name = ${name} for update`)
  return row !== undefined
}

/** `namespace/name`, the form in permissions, messages and event keys. */
export const keyOf = ({ namespace, name }: WorkflowName): string => `${namespace}/${name}`
