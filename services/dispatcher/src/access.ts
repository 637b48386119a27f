import { DispatcherService, FleetService } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { allow, listRpcs, type RpcAccess } from '@windlass/rpc/policy'

/** Services that may call each rpc. */
export const dispatcher: RpcAccess<typeof DispatcherService> = {
  register: allow('gateway'),
  pong: allow('gateway'),
  list: allow('gateway'),
  get: allow('gateway'),
  endSession: allow('gateway'),
}

export const fleet: RpcAccess<typeof FleetService> = {
  pongs: allow('gateway'),
  reportPresence: allow('gateway'),
  explain: allow('gateway'),
}

export const rpcs = [...listRpcs(DispatcherService, dispatcher), ...listRpcs(FleetService, fleet)]
