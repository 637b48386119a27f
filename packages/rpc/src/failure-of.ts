import { status } from '@grpc/grpc-js'
import type { Failure } from '@windlass/proto/windlass/rpc/v1/calls'
import { Fault } from '@windlass/runtime/faults'
import { toOutageFault } from '@windlass/runtime/postgres/outage'
import { traceIdOf } from '@windlass/runtime/tracing/tracing'
import type { Logger } from 'pino'
import { RpcDenied } from './authorizer.ts'
import { codes } from './call.ts'

/**
 * Describes an error of a handler or of the authorizer to the client. Unexpected errors are logged and not
 * described.
 */
export function failureOf(
  rpc: string,
  error: unknown,
  { log, traceparent }: { log: Logger; traceparent: string | undefined },
): Failure {
  const trace_id = traceIdOf(traceparent)
  if (error instanceof RpcDenied)
    return { code: error.code, message: error.message, fault: Buffer.alloc(0) }
  const fault = error instanceof Fault ? error : toOutageFault(error)
  if (!fault) {
    log.error({ err: error, rpc, trace_id }, 'rpc failed unexpectedly')
    return { code: status.INTERNAL, message: 'internal error', fault: Buffer.alloc(0) }
  }
  if (fault.kind === 'unavailable') log.warn({ err: fault.cause, rpc, trace_id }, fault.message)
  const { kind, details, message } = fault
  return { code: codes[kind], message, fault: Buffer.from(JSON.stringify({ kind, details })) }
}
