import {
  ApprovalsService,
  ExecutionsService,
  QueueService,
} from '@windlass/proto/windlass/executions/v1/executions'
import { allow, allowOnBehalfOf, listRpcs, type RpcAccess } from '@windlass/rpc/policy'

/** Who may call what here. */
export const executions: RpcAccess<typeof ExecutionsService> = {
  /** Each creation has a statement of its own; which commands are whose business is in `commands.ts`. */
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

export const rpcs = [
  ...listRpcs(ExecutionsService, executions),
  ...listRpcs(ApprovalsService, approvals),
  ...listRpcs(QueueService, queue),
]
