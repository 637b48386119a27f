import { z } from 'zod'
import { findApproval } from '../clients/approvals-client.ts'
import { callUntilAvailable } from '../clients/call-until-available.ts'
import type { Clients } from '../clients/connect.ts'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import { json } from '../route/body.ts'
import { text } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { claimHolderOf } from './claim-holder.ts'
import { timeOf } from './responses.ts'

export interface Deps {
  approvals: Clients['approvals']
  executions: ExecutionsClient
}

const Question = z
  .object({ task_call_id: text(256).min(1), task_name: text(256).min(1) })
  .meta({ id: 'ApprovalQuestion' })

export const requestApproval = route('post', '/workers/{name}/approvals/{execution_id}', {
  summary: 'Request approval of a call',
  access: 'own execution',
  body: json(Question),
  returns: z.object({ status: z.enum(['created', 'exists', 'granted', 'cancelled']) }),
  async handle({ params: { execution_id }, body, resolved, ctx }, { approvals }: Deps) {
    const request = { execution_id, writer: claimHolderOf(resolved, ctx, execution_id), ...body }
    const { status } = await callUntilAvailable(() => approvals.request(request))
    return { status: status as 'created' }
  },
})

/** An approval in the form that workers read. */
const Answer = z
  .object({
    id: z.string(),
    status: z.string(),
    task_name: z.string(),
    workflow_namespace: z.string(),
    workflow_name: z.string(),
    requested_at: z.string().nullable(),
    approver_subject: z.string().nullable(),
    approver_provider: z.string().nullable(),
    reason: z.string().nullable(),
    scope: z.string(),
  })
  .meta({ id: 'ApprovalAnswer' })

export const readApproval = route(
  'get',
  '/workers/{name}/approvals/{execution_id}/{task_call_id}',
  {
    summary: 'Show the decision of a call',
    access: 'own execution',
    returns: z.object({ approval: Answer.nullable() }),
    async handle({ params: { execution_id, task_call_id }, resolved, ctx }, deps: Deps) {
      await deps.executions.submit({
        execution_id,
        with_log: false,
        body: { $case: 'verify', value: { writer: claimHolderOf(resolved, ctx, execution_id) } },
      })
      const row = await findApproval(deps, { execution_id, task_call_id })
      if (!row) return { approval: null }
      return {
        approval: {
          id: row.approval_id,
          status: row.status,
          task_name: row.task_name,
          workflow_namespace: row.workflow_namespace,
          workflow_name: row.workflow_name,
          requested_at: timeOf(row.requested_at),
          approver_subject: row.approver_subject || null,
          approver_provider: row.approver_provider || null,
          reason: row.reason ?? null,
          scope: row.scope,
        },
      }
    },
  },
)
