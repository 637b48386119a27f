import { SchedulerService } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { declared, from, onBehalf, type RpcAccess } from '@windlass/rpc/policy'

/** Who may call what here. Whoever changes something is named by a signed statement. */
export const scheduler: RpcAccess<typeof SchedulerService> = {
  create: onBehalf('gateway'),
  get: from('gateway'),
  list: from('gateway'),
  update: onBehalf('gateway'),
  pause: onBehalf('gateway'),
  resume: onBehalf('gateway'),
  delete: onBehalf('gateway'),
  history: from('gateway'),
  next: from('gateway'),
  forecast: from('gateway'),
  reconcile: from('gateway'),
}

export const rpcs = [...declared(SchedulerService, scheduler)]
