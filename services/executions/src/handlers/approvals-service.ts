import { toRecordedCaller } from '@windlass/domain/caller'
import type { Visibility } from '@windlass/domain/visibility'
import type {
  ApprovalsService,
  Approval as Message,
} from '@windlass/proto/windlass/executions/v1/executions'
import { callerOf, type Handlers } from '@windlass/rpc/call'
import { Fault } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import { toMessage } from '../domain/message.ts'
import type { ExecutionWriter } from '../engine/writer.ts'
import * as approvals from '../store/approval-rows.ts'
import { toClaimHolder } from './commands.ts'

const MAX_PAGE = 200

const NO_FILTER = {
  status: '',
  execution_id: '',
  workflow_namespace: '',
  workflow_name: '',
  task_name: '',
  visible: { kind: 'all' } as const,
  limit: MAX_PAGE,
  offset: 0,
}

type ApprovalsHandlers = Handlers<typeof ApprovalsService>

interface ApprovalsDeps {
  db: Db
  /** Connections for lists of many executions, which may be slow. */
  reads: Db
  writer: ExecutionWriter
}

export const approvalsHandlers = ({ db, reads, writer }: ApprovalsDeps): ApprovalsHandlers => ({
  async request({ execution_id, writer: holder, task_call_id, task_name }) {
    const request = { approval_id: newId(), task_call_id, task_name }
    const command = { kind: 'request_approval', holder: toClaimHolder(holder), request } as const
    const result = await writer.submit({ execution_id, command })
    if ('fault' in result) throw result.fault
    return { status: result.answer ?? 'exists' }
  },

  async decide({ execution_id, ...verdict }, call) {
    const { subject, issuer } = toRecordedCaller(callerOf(call))
    const decision = { ...verdict, approver_subject: subject, approver_provider: issuer }
    const command = { kind: 'decide_approval', decision } as const
    const execution = await writer.submitOrThrow({ execution_id, command })
    const { task_call_id } = decision
    const { rows } = await approvals.list(db, { ...NO_FILTER, execution_id, task_call_id })
    const decided = rows.find(
      ({ task_name, status }) =>
        task_call_id !== '' || (task_name === decision.task_name && status !== 'pending'),
    )
    if (!decided) throw new Fault('not_found', 'not_found')
    return { approval: toApproval(decided), execution: toMessage(execution) }
  },

  async list({ limit, within, ...filter }) {
    // In the message an empty list means all workflows; gateways refuse a caller that may read none.
    const visible: Visibility =
      within.length === 0 ? { kind: 'all' } : { kind: 'only', workflows: within, ids: [] }
    const most = Math.min(limit || MAX_PAGE, MAX_PAGE)
    // Workers and decisions ask for the approvals of one execution, and must not wait for lists of all.
    const own = filter.execution_id === '' ? reads : db
    const { rows, total } = await approvals.list(own, { ...filter, visible, limit: most })
    return { approvals: rows.map(toApproval), total }
  },
})

const toApproval = ({ decided_at, reason, ...row }: approvals.ListedApproval): Message => ({
  ...row,
  decided_at,
  reason,
})
