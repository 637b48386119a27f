import {
  ApprovalsService,
  ExecutionsService,
  QueueService,
} from '@windlass/proto/windlass/executions/v1/executions'
import { declared, from, onBehalf, type RpcAccess } from '@windlass/rpc/policy'

/** Who may call what here. */
export const executions: RpcAccess<typeof ExecutionsService> = {
  /** Each creation has a statement of its own; which commands are whose business is in `commands.ts`. */
  submit: from('gateway', 'scheduler', 'dispatcher'),
  lease: from('dispatcher'),
  awaitWork: from('dispatcher'),
  requeue: from('dispatcher'),
  get: from('gateway', 'scheduler'),
  log: from('gateway', 'dispatcher'),
  list: from('gateway'),
  reserveKey: from('gateway'),
  listReady: from('dispatcher'),
}

export const approvals: RpcAccess<typeof ApprovalsService> = {
  request: from('gateway'),
  decide: onBehalf('gateway'),
  list: from('gateway'),
}

export const queue: RpcAccess<typeof QueueService> = {
  explain: from('gateway'),
  loads: from('gateway'),
}

export const rpcs = [
  ...declared(ExecutionsService, executions),
  ...declared(ApprovalsService, approvals),
  ...declared(QueueService, queue),
]
