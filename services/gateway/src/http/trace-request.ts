import type { Settings } from '@windlass/runtime/config/settings'
import { inRequestSpan, markFailed, traceparentOf } from '@windlass/runtime/tracing/tracing'
import type { RequestContext } from './request-context.ts'

/** Access rules of routes that begin no trace: probes, and requests that workers send all the time. */
const CONTINUED_ONLY: ReadonlySet<unknown> = new Set(['public', 'own worker', 'own execution'])
/** Routes whose `traceparent` is used although `accept_client_context` is off: workers are authenticated. */
const OF_WORKERS: ReadonlySet<unknown> = new Set(['own worker', 'own execution'])

/** Handles a request in a span, which continues the trace of its `traceparent` or begins one. */
export function traceRequest(
  { method, path, access }: { method: string; path: string; access: unknown },
  ctx: RequestContext,
  { telemetry }: Pick<Settings, 'telemetry'>,
  handle: () => Promise<void>,
): Promise<void> {
  const isAccepted = telemetry.accept_client_context || OF_WORKERS.has(access)
  const verb = method.toUpperCase()
  const options = {
    kind: 'server' as const,
    traceparent: isAccepted ? ctx.header('traceparent') : undefined,
    mayBegin: !CONTINUED_ONLY.has(access),
    attributes: {
      'http.request.method': verb,
      'http.route': path,
      'windlass.request_id': ctx.id,
    },
  }
  return inRequestSpan(`${verb} ${path}`, options, async (span) => {
    ctx.traceparent = traceparentOf(span)
    await handle()
    span.setAttribute('http.response.status_code', ctx.res.statusCode)
    if (ctx.executionId) span.setAttribute('windlass.execution_id', ctx.executionId)
    if (ctx.res.statusCode >= 500) markFailed(span)
  })
}
