import type { Visibility } from '@windlass/domain/visibility'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { inScopes } from '@windlass/runtime/postgres/in-scopes'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import type { Approval } from '../domain/approvals.ts'

/** An approval with its workflow, as lists show it. */
export interface ListedApproval extends Approval {
  workflow_namespace: string
  workflow_name: string
  requested_at: Date
}

/** Reads all approvals of some executions, oldest first. */
export const listOfExecutions = (tx: Tx, ids: readonly string[]) =>
  tx.rows<Approval>(sql`
    select approval_id, execution_id, task_call_id, task_name, status, scope, approver_subject,
           approver_provider, reason, decided_at
      from approvals where execution_id = any(${ids}::uuid[]) order by requested_at`)

export function save(tx: Tx, approvals: readonly Approval[]): Promise<number> {
  const column = <K extends keyof Approval>(key: K) => approvals.map((row) => row[key] ?? null)
  return tx.run(sql`
    insert into approvals (approval_id, execution_id, task_call_id, task_name, status, scope,
      approver_subject, approver_provider, reason, decided_at)
    select * from unnest(
      ${column('approval_id')}::uuid[], ${column('execution_id')}::uuid[],
      ${column('task_call_id')}::text[], ${column('task_name')}::text[],
      ${column('status')}::text[], ${column('scope')}::text[],
      ${column('approver_subject')}::text[], ${column('approver_provider')}::text[],
      ${column('reason')}::text[], ${column('decided_at')}::timestamptz[])
    on conflict (approval_id) do update
       set status = excluded.status, scope = excluded.scope, reason = excluded.reason,
           approver_subject = excluded.approver_subject, decided_at = excluded.decided_at,
           approver_provider = excluded.approver_provider`)
}

export interface ApprovalFilter {
  status: string
  execution_id: string
  workflow_namespace: string
  workflow_name: string
  task_name: string
  task_call_id: string
  requested_before?: Date
  visible: Visibility
  limit: number
  offset: number
}

/** Reads one page, newest first, and the number of matches. */
export async function list(db: Queries, filter: ApprovalFilter) {
  const matching = matchingOf(filter)
  const [rows, counted] = await Promise.all([
    db.rows<ListedApproval>(sql`
      select a.approval_id, a.execution_id, a.task_call_id, a.task_name, a.status, a.scope,
             a.approver_subject, a.approver_provider, a.reason, a.decided_at, a.requested_at,
             e.workflow_namespace, e.workflow_name ${matching}
       order by a.requested_at desc, a.approval_id desc
       limit ${filter.limit} offset ${filter.offset}::bigint`),
    db.maybe<{ total: number }>(sql`select count(*) as total ${matching}`),
  ])
  return { rows, total: counted?.total ?? 0 }
}

const OF_EXECUTION = { namespace: sql`e.workflow_namespace`, name: sql`e.workflow_name` }

function matchingOf(filter: ApprovalFilter): Sql {
  const { execution_id, requested_before, visible } = filter
  const ofExecution = execution_id ? sql`and a.execution_id = ${execution_id}` : sql``
  const before = requested_before ? sql`and a.requested_at <= ${requested_before}` : sql``
  const scoped =
    visible.kind === 'all' ? sql`` : sql`and ${inScopes(visible.workflows, OF_EXECUTION)}`
  return sql`
    from approvals a join executions e using (execution_id)
   where (${filter.status} = '' or a.status = ${filter.status})
     and (${filter.workflow_namespace} = '' or e.workflow_namespace = ${filter.workflow_namespace})
     and (${filter.workflow_name} = '' or e.workflow_name = ${filter.workflow_name})
     and (${filter.task_name} = '' or a.task_name = ${filter.task_name})
     and (${filter.task_call_id} = '' or a.task_call_id = ${filter.task_call_id})
     ${ofExecution} ${before} ${scoped}`
}
