import { DispatcherService, FleetService } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { declared, from, type RpcAccess } from '@windlass/rpc/policy'

/** Who may call what here. */
export const dispatcher: RpcAccess<typeof DispatcherService> = {
  register: from('gateway'),
  pong: from('gateway'),
  list: from('gateway'),
  get: from('gateway'),
}

export const fleet: RpcAccess<typeof FleetService> = {
  pongs: from('gateway'),
  explain: from('gateway'),
}

export const rpcs = [...declared(DispatcherService, dispatcher), ...declared(FleetService, fleet)]
