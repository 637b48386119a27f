import { counter, gauge } from '@windlass/runtime/metrics/instruments'

export const workersByState = gauge('windlass_workers', {
  help: 'Workers whose streams this dispatcher holds, by state: free (has a slot), full, unhealthy, blocked (reads too slowly).',
  labels: ['state'],
})
export const workerSlots = gauge('windlass_worker_slots', {
  help: 'Slots of the connected workers by state: used, free. Workers without a limit count what they use.',
  labels: ['state'],
})
export const streamEnds = counter('windlass_worker_stream_ends_total', {
  help: 'Worker streams that ended, by reason: disconnected, superseded, evicted, stopping, gateway_stopping, stalled, buffer_overflow.',
  labels: ['reason'],
})
export const evictions = counter('windlass_worker_evictions_total', {
  help: 'Workers that this dispatcher evicted, by reason: silent, departed.',
  labels: ['reason'],
})
export const dispatched = counter('windlass_dispatched_total', {
  help: 'Leases by outcome: sent to the worker; released, because it could not receive them; failed.',
  labels: ['outcome'],
})
export const undelivered = gauge('windlass_undelivered_leases', {
  help: 'Leases whose frames have not been written yet.',
})
export const eligibleWorkers = gauge('windlass_eligible_workers', {
  help: 'Healthy workers connected here that meet the requirement of queued work, with or without a free slot.',
  labels: ['requirement'],
})
