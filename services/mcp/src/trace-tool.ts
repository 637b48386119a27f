import { ArgumentError, StatusError } from '@windlass/api-client/errors'
import {
  forwardedParent,
  inRequestSpan,
  markFailed,
  type Span,
} from '@windlass/runtime/tracing/tracing'

/** `traceparent` of a call: from its `_meta`, which both transports have, else from the HTTP request. */
export function traceparentOfCall(
  meta: Record<string, unknown> | undefined,
  headers: Record<string, unknown> | undefined,
): string | undefined {
  const found = [meta?.traceparent, headers?.traceparent]
  return found.find((value): value is string => typeof value === 'string')
}

/**
 * Runs a tool call in a span, below the client's `traceparent` if that is well-formed; without one, the
 * configured fraction of the calls begins a trace. `run` gets the header for its requests to the API, which
 * continue the trace.
 */
export function traceTool<T>(
  tool: string,
  traceparent: string | undefined,
  run: (headers: Record<string, string>, onError: (error: unknown) => void) => Promise<T>,
): Promise<T> {
  const attributes = { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': tool }
  const options = { kind: 'server' as const, traceparent, mayBegin: true, attributes }
  return inRequestSpan(`tools/call ${tool}`, options, (span) => {
    const forwarded = forwardedParent(span, traceparent)
    return run(forwarded ? { traceparent: forwarded } : {}, (error) => recordFailure(span, error))
  })
}

/**
 * Records the error of a call; a refusal by the API, or of arguments, does not make the span a failed one.
 */
function recordFailure(span: Span, error: unknown): void {
  const name = error instanceof Error ? error.name : 'Error'
  span.setAttribute('error.type', error instanceof StatusError ? `${error.status}` : name)
  if (error instanceof ArgumentError || (error instanceof StatusError && error.status < 500)) return
  markFailed(span)
}
