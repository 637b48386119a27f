import {
  type Client,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import type { Failure } from '@windlass/proto/windlass/rpc/v1/calls'
import { Fault, type Kind, unavailable } from '@windlass/runtime/faults'
import {
  CALLER_HEADER,
  type CallOptions,
  type ClientOf,
  FAULT_TRAILER,
  REQUEST_ID_HEADER,
  SERVICE_TOKEN_HEADER,
} from './call.ts'
import { MultiplexedPool, UnaryChannels } from './connection-pool.ts'
import type { MultiplexedStream, OutgoingCall } from './multiplexed-client.ts'
import { serviceNameOf } from './policy.ts'
import type { ServiceIdentity } from './service-identity.ts'

const UNARY_MS = 10_000
/** How long a call waits for a replica that is being restarted. */
const RETRY_MS = 100
const RETRIES = 20

type Method = MethodDefinition<unknown, unknown>

/** The other end is of a release that does not have this rpc. */
export class UnimplementedRpc extends Error {
  override readonly name = 'UnimplementedRpc'
}

export type RpcClient<Service> = ClientOf<Service> & { close(): void }

/**
 * A client of all replicas of a service. Calls travel on the stream that this process keeps open to
 * each replica, in turn; by themselves where there is none yet or they are large. They carry a deadline and fail with the very Fault the
 * service threw, or `unavailable`. A call that found no connection was not seen by anyone and is
 * tried again; one that broke under way is not, unless its rpc is safe to repeat and the caller does so.
 */
export function connect<S extends ServiceDefinition>(
  definition: S,
  addresses: readonly string[],
  cluster: ServiceIdentity,
  service = serviceNameOf(definition),
): RpcClient<S> {
  const numeric = addresses.map((address) => address.replace(/^localhost(?=:|$)/, '127.0.0.1'))
  const channels = new UnaryChannels(numeric, cluster)
  const pool = new MultiplexedPool({ service, addresses: numeric }, cluster)
  const deps = { service, channels, pool, cluster }
  const rpcs = Object.entries(definition).map(([rpc, method]) => [rpc, createRpc(deps, method)])
  const close = () => {
    pool.close()
    channels.close()
  }
  return { ...Object.fromEntries(rpcs), close }
}

interface ClientDeps {
  service: string
  channels: UnaryChannels
  pool: MultiplexedPool
  cluster: ServiceIdentity
}

function createRpc({ service, channels, pool, cluster }: ClientDeps, method: Method) {
  return async (request: unknown, options: CallOptions = {}) => {
    const { timeoutMs = UNARY_MS, signal, answerNow, requestId = '' } = options
    const deadline = Date.now() + timeoutMs
    const bytes = method.requestSerialize(request)
    const { path } = method
    const caller = options.caller ? cluster.signCaller(options.caller, service, path) : ''
    const stream = pool.next(bytes)
    const outgoing = { path, request: bytes, deadline, signal, answerNow, caller, requestId }
    const response = stream && (await callOnStream(stream, outgoing))
    if (response) return method.responseDeserialize(response)
    const call = () => {
      const metadata = new Metadata()
      metadata.set(SERVICE_TOKEN_HEADER, cluster.serviceToken(service))
      if (caller) metadata.set(CALLER_HEADER, caller)
      if (requestId) metadata.set(REQUEST_ID_HEADER, requestId)
      return callUnary(channels.next(), method, bytes, { deadline, signal, metadata })
    }
    return retryUnconnected(call, { deadline, signal })
  }
}

/** Repeats a call that found no connection, for a while. */
async function retryUnconnected(
  call: () => Promise<unknown>,
  { deadline, signal }: Omit<UnaryCallOptions, 'metadata'>,
) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      const again = attempt < RETRIES && wasNotSent(error as ServiceError) && !signal?.aborted
      if (!again || Date.now() + RETRY_MS > deadline) throw toError(error as ServiceError)
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}

/** Undefined for an rpc that the server does not take on a stream, such as the standard health check. */
async function callOnStream(
  line: MultiplexedStream,
  asking: OutgoingCall,
): Promise<Buffer | undefined> {
  try {
    return await line.call(asking)
  } catch (error) {
    const failure = error as Failure
    if (failure.code === status.UNIMPLEMENTED) return undefined
    throw toFault({ ...failure, cause: error })
  }
}

interface UnaryCallOptions {
  deadline: number
  signal: AbortSignal | undefined
  metadata: Metadata
}

function callUnary(channel: Client, method: Method, request: Buffer, sending: UnaryCallOptions) {
  const { deadline, signal, metadata } = sending
  return new Promise((resolve, reject) => {
    const call = channel.makeUnaryRequest(
      method.path,
      (bytes: Buffer) => bytes,
      method.responseDeserialize,
      request,
      metadata,
      { deadline },
      (error, response) => {
        signal?.removeEventListener('abort', cancel)
        if (error) reject(error)
        else resolve(response)
      },
    )
    const cancel = () => call.cancel()
    signal?.addEventListener('abort', cancel, { once: true })
  })
}

/** grpc-js says so when no subchannel was ready, before a byte of the call was written. */
const wasNotSent = (error: ServiceError) =>
  error.code === status.UNAVAILABLE &&
  /No connection established|ECONNREFUSED|Server shutting down/.test(error.details)

const OUTAGE_CODES = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED])

interface RpcFailure extends Failure {
  cause: unknown
}

function toError(error: ServiceError): Error {
  const [trailer = ''] = error.metadata?.get(FAULT_TRAILER) ?? []
  const { code, details: message } = error
  return toFault({ code, message, fault: Buffer.from(trailer), cause: error })
}

function toFault({ code, message, fault, cause }: RpcFailure): Error {
  if (fault.length > 0) {
    const { kind, details } = JSON.parse(fault.toString()) as {
      kind: Kind
      details?: Record<string, unknown>
    }
    return new Fault(kind, message, { details, cause })
  }
  if (OUTAGE_CODES.has(code)) return unavailable('a needed service is out of reach', cause)
  if (code === status.UNIMPLEMENTED) return new UnimplementedRpc(message, { cause })
  return new Error(`rpc failed: ${message}`, { cause })
}
