import { inSpanOf } from '@windlass/runtime/tracing/tracing'
import type { Call } from './call.ts'
import { measured } from './measured.ts'

/** Handler of one rpc. */
export type Unary = (request: unknown, call: Call) => Promise<unknown>

/** Measures a handler and, if the call is traced, runs it in a span of the caller's trace. */
export function traced(rpc: string, handler: Unary): Unary {
  const handle = measured(rpc, handler)
  return (request, call) =>
    call.traceparent
      ? inSpanOf(call.traceparent, rpc, { kind: 'server' }, () => handle(request, call))
      : handle(request, call)
}
