import { counter, histogram } from '@windlass/runtime/metrics/instruments'

/** Metrics of every service that serves rpcs. */
export const rpcRequests = counter('windlass_rpc_requests_total', {
  help: 'Calls that the service answered, by rpc and outcome: ok, refused (a fault of the caller), unavailable, failed.',
  labels: ['rpc', 'outcome'],
})
export const rpcDuration = histogram('windlass_rpc_duration_seconds', {
  help: 'Time from a call to its answer; long polls such as AwaitWork include their wait.',
  labels: ['rpc'],
})
