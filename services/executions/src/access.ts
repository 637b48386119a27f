import { CapturedLinesService } from '@windlass/proto/windlass/executions/v1/captured_lines'
import {
  ApprovalsService,
  ExecutionsService,
  QueueService,
} from '@windlass/proto/windlass/executions/v1/executions'
import { HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import { allow, allowOnBehalfOf, listRpcs, type RpcAccess } from '@windlass/rpc/policy'

/** Services that may call each rpc. */
export const executions: RpcAccess<typeof ExecutionsService> = {
  /** Each create carries its own on-behalf-of token; handlers/commands.ts lists the commands per service. */
  submit: allow('gateway', 'scheduler', 'dispatcher'),
  lease: allow('dispatcher'),
  awaitWork: allow('dispatcher'),
  requeue: allow('dispatcher'),
  get: allow('gateway', 'scheduler'),
  log: allow('gateway', 'dispatcher'),
  list: allow('gateway'),
  reserveKey: allow('gateway'),
  listReady: allow('dispatcher'),
}

export const approvals: RpcAccess<typeof ApprovalsService> = {
  request: allow('gateway'),
  decide: allowOnBehalfOf('gateway'),
  list: allow('gateway'),
}

export const queue: RpcAccess<typeof QueueService> = {
  explain: allow('gateway'),
  loads: allow('gateway'),
}

/** The gateway limits each request to the executions that its caller may read. */
export const history: RpcAccess<typeof HistoryService> = {
  search: allow('gateway'),
  readLog: allow('gateway'),
  readPayload: allow('gateway'),
  timeline: allow('gateway'),
  stats: allow('gateway'),
  queueDepths: allow('gateway'),
  planFork: allow('gateway'),
  compare: allow('gateway'),
  listChanges: allow('gateway'),
}

/** The gateway checks that a worker holds the claim, and that a reader may read the execution. */
export const capturedLines: RpcAccess<typeof CapturedLinesService> = {
  append: allow('gateway'),
  read: allow('gateway'),
}

export const rpcs = [
  ...listRpcs(ExecutionsService, executions),
  ...listRpcs(ApprovalsService, approvals),
  ...listRpcs(QueueService, queue),
  ...listRpcs(HistoryService, history),
  ...listRpcs(CapturedLinesService, capturedLines),
]
