import { toRecordedCaller } from '@windlass/domain/caller'
import type {
  Approval,
  ApprovalsService,
  DecideApprovalRequest,
  ListApprovalsRequest,
  RequestApprovalRequest,
} from '@windlass/proto/windlass/executions/v1/executions'
import { callerOf, type Handlers } from '@windlass/rpc/call'
import { Fault } from '@windlass/runtime/faults'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

const AT = new Date('2026-01-02T03:04:05Z')
export const LATER = new Date('2026-01-02T03:05:00Z')

export const approval = (changes: Partial<Approval> = {}): Approval => ({
  approval_id: 'a'.repeat(32),
  execution_id: ID,
  task_call_id: 'pay_1',
  task_name: 'pay',
  workflow_namespace: 'default',
  workflow_name: 'hello',
  status: 'pending',
  requested_at: AT,
  decided_at: undefined,
  approver_subject: '',
  approver_provider: '',
  scope: 'call',
  ...changes,
})

interface Decision extends DecideApprovalRequest {
  approver_subject: string
  approver_provider: string
}

/** Approvals in memory: newest first, decided once. */
class Desk {
  readonly lists: ListApprovalsRequest[] = []
  readonly decisions: Decision[] = []
  readonly requests: RequestApprovalRequest[] = []
  rows: Approval[] = []

  get script(): Partial<Handlers<typeof ApprovalsService>> {
    return {
      list: async (filter) => {
        this.lists.push(filter)
        const fits = (row: Approval) =>
          (['status', 'task_name', 'task_call_id', 'execution_id'] as const).every(
            (key) => filter[key] === '' || filter[key] === row[key],
          )
        const approvals = this.rows.filter(fits)
        return { approvals: approvals.slice(0, filter.limit), total: approvals.length }
      },
      request: async (request) => {
        this.requests.push(request)
        return { status: 'created' }
      },
      decide: async (request, call) => {
        const { subject, issuer } = toRecordedCaller(callerOf(call))
        const decision = { ...request, approver_subject: subject, approver_provider: issuer }
        this.decisions.push(decision)
        return { approval: this.#decided(decision), execution: undefined }
      },
    }
  }

  #decided({ task_call_id, approved, reason, ...decision }: Decision): Approval {
    const i = this.rows.findIndex((row) => row.task_call_id === task_call_id)
    const row = this.rows[i] as Approval
    if (row.status !== 'pending')
      throw new Fault('conflict', 'already_decided', {
        details: {
          error: 'already_decided',
          current_status: row.status,
          decided_at: row.decided_at?.toISOString(),
        },
      })
    const { approver_subject, approver_provider } = decision
    const status = approved ? 'approved' : 'rejected'
    const decided = {
      ...row,
      status,
      decided_at: LATER,
      reason,
      approver_subject,
      approver_provider,
    }
    this.rows[i] = decided
    return decided
  }
}

/** A gateway with the execution ID and its approvals. */
export async function approvalsFixture(...rows: Approval[]) {
  const fixture = new Desk()
  fixture.rows = rows
  const script = fixture.script
  const made = await startGateway({
    approvals: {
      ...script,
      decide: async (request, call) => {
        const answer = await script.decide?.(request, call)
        return { approval: answer?.approval, execution: made.executions.rows.get(ID)?.execution }
      },
    },
  })
  await made.call('POST', '/workflows/default/hello/run/async')
  const row = made.executions.rows.get(made.executions.last)
  if (row)
    made.executions.rows.set(ID, { ...row, execution: { ...row.execution, execution_id: ID } })
  const get = async (path: string) => {
    const response = await made.call('GET', path)
    return { status: response.status, body: await response.json() }
  }
  const post = async (path: string, body?: unknown) => {
    const response =
      body === undefined ? await made.call('POST', path) : await made.json('POST', path, body)
    return { status: response.status, body: await response.json() }
  }
  return { ...made, fixture, get, post }
}
