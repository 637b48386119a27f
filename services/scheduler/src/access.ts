import { SchedulerService } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { allow, allowOnBehalfOf, listRpcs, type RpcAccess } from '@windlass/rpc/policy'

/** Services that may call each rpc. An rpc that changes something requires an on-behalf-of token. */
export const scheduler: RpcAccess<typeof SchedulerService> = {
  create: allowOnBehalfOf('gateway'),
  get: allow('gateway'),
  list: allow('gateway'),
  update: allowOnBehalfOf('gateway'),
  updateIf: allowOnBehalfOf('gateway'),
  pause: allowOnBehalfOf('gateway'),
  resume: allowOnBehalfOf('gateway'),
  delete: allowOnBehalfOf('gateway'),
  history: allow('gateway'),
  next: allow('gateway'),
  forecast: allow('gateway'),
  reconcile: allow('gateway'),
}

export const rpcs = [...listRpcs(SchedulerService, scheduler)]
