import { counter, gauge, histogram } from '@windlass/runtime/metrics/instruments'

export const httpRequests = counter('windlass_http_requests_total', {
  help: 'Requests by declared route and status; 499: the client disconnected before the response.',
  labels: ['method', 'route', 'status'],
})
export const httpDuration = histogram('windlass_http_request_duration_seconds', {
  help: 'Time from a request to the end of its response. Streams and synchronous runs last as long as they are open.',
  labels: ['method', 'route'],
})
export const httpOpenRequests = gauge('windlass_http_open_requests', {
  help: 'Requests without a complete response.',
})
export const cacheLookups = counter('windlass_cache_lookups_total', {
  help: 'Lookups in a cache of the gateway by result: hit; miss; bypassed, because Redis does not answer.',
  labels: ['cache', 'result'],
})
export const cacheGenerations = counter('windlass_cache_generations_total', {
  help: 'Changes of a cache generation that this gateway saw; each empties the cache.',
  labels: ['cache'],
})
