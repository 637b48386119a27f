import { type ServiceError, status } from '@grpc/grpc-js'
import type { Failure } from '@windlass/proto/windlass/rpc/v1/calls'
import { Fault, type Kind, unavailable } from '@windlass/runtime/faults'
import { FAULT_TRAILER } from './call.ts'

/** The replica is from a release without this rpc. */
export class UnimplementedRpc extends Error {
  override readonly name = 'UnimplementedRpc'
}

const OUTAGE_CODES = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED])

interface RpcFailure extends Failure {
  cause: unknown
}

export function toError(error: ServiceError): Error {
  const [trailer = ''] = error.metadata?.get(FAULT_TRAILER) ?? []
  const { code, details: message } = error
  return toFault({ code, message, fault: Buffer.from(trailer), cause: error })
}

export function toFault({ code, message, fault, cause }: RpcFailure): Error {
  if (fault.length > 0) {
    const { kind, details } = JSON.parse(fault.toString()) as {
      kind: Kind
      details?: Record<string, unknown>
    }
    return new Fault(kind, message, { details, cause })
  }
  if (OUTAGE_CODES.has(code)) return unavailable('a required service is unavailable; retry', cause)
  if (code === status.UNIMPLEMENTED) return new UnimplementedRpc(message, { cause })
  return new Error(`rpc failed: ${message}`, { cause })
}
