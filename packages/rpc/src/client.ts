import {
  type Client,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import type { Failure } from '@windlass/proto/windlass/rpc/v1/calls'
import { unavailable } from '@windlass/runtime/faults'
import { retry } from '@windlass/runtime/retry'
import { inSpanOf, traceparentOf } from '@windlass/runtime/tracing/tracing'
import { isBatched } from './batched.ts'
import {
  CALLER_HEADER,
  type CallOptions,
  CLIENT_ADDRESS_HEADER,
  type ClientOf,
  REQUEST_ID_HEADER,
  SERVICE_TOKEN_HEADER,
  TRACEPARENT_HEADER,
} from './call.ts'
import { MultiplexedPool, UnaryChannels } from './connection-pool.ts'
import { callLocally } from './local-client.ts'
import {
  type MultiplexedStream,
  type OutgoingCall,
  UnresponsiveReplica,
} from './multiplexed-client.ts'
import type { MultiplexedConnection } from './multiplexed-connection.ts'
import { serviceNameOf } from './policy.ts'
import { isRepeatable } from './repeatable.ts'
import type { ServiceIdentity } from './service-identity.ts'
import { toError, toFault } from './to-fault.ts'

const UNARY_MS = 10_000
/**
 * The slowest transfer that is allowed for: with less time, a request of 16 MiB would never reach a busy
 * machine, however often it is sent.
 */
const SLOWEST_BYTES_PER_MS = 1_048
const MAX_STREAM_REQUEST_BYTES = 65_536
/** A call waits up to MAX_RETRIES * RETRY_MS for a replica that is being restarted. */
const RETRY_MS = 100
const MAX_RETRIES = 20

type Method = MethodDefinition<unknown, unknown>

export type RpcClient<Service> = ClientOf<Service> & { close(): void }

/**
 * Creates a client of all replicas of a service, which are called in turn. Calls travel on the multiplexed
 * stream to a replica, or as unary gRPC calls for large requests and while no stream is open
 * (multiplexed-client.ts). Each call has a deadline and rejects with the Fault that the handler threw, or
 * with `unavailable`. A call that found no connection was received by no server and is repeated. A call
 * whose connection broke in flight is not, because its outcome is unknown. A call to a replica that hangs
 * is sent to another one if it is safe to repeat (repeatable.ts).
 */
export function connect<S extends ServiceDefinition>(
  definition: S,
  addresses: readonly string[],
  identity: ServiceIdentity,
  service = serviceNameOf(definition),
): RpcClient<S> {
  const numeric = addresses.map((address) => address.replace(/^localhost(?=:|$)/, '127.0.0.1'))
  const channels = new UnaryChannels(numeric, identity)
  const pool = new MultiplexedPool({ service, addresses: numeric }, identity)
  const deps = { service, channels, pool, identity }
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
  identity: ServiceIdentity
}

function createRpc(deps: ClientDeps, method: Method) {
  const { service, pool, identity } = deps
  const { path } = method
  const repeatable = isRepeatable(path)
  const canMove = () => repeatable && pool.hasResponsive
  const name = path.slice(1)
  return (request: unknown, options: CallOptions = {}) =>
    options.traceparent
      ? inSpanOf(options.traceparent, name, { kind: 'client' }, (span) =>
          call(request, options, traceparentOf(span)),
        )
      : call(request, options)

  async function call(request: unknown, options: CallOptions, traceparent?: string) {
    // A late call of a process that stops must not connect again: the process would not end.
    if (pool.isClosed) throw unavailable(`the client of ${service} is closed`)
    const { timeoutMs = UNARY_MS, signal, answerNow, requestId = '', clientAddress = '' } = options
    const bytes = method.requestSerialize(request)
    const deadline = Date.now() + timeoutMs + Math.floor(bytes.length / SLOWEST_BYTES_PER_MS)
    const caller = options.caller ? identity.signCaller(options.caller, service, path) : ''
    const outgoing = {
      path,
      request: bytes,
      deadline,
      signal,
      answerNow,
      caller,
      requestId,
      clientAddress,
      traceparent,
      canMove,
    }
    return callResponsive(deps, method, outgoing)
  }
}

/** Calls replicas until one answers or the deadline passes. */
async function callResponsive(deps: ClientDeps, method: Method, outgoing: OutgoingCall) {
  const { identity, service } = deps
  if (identity.colocation?.has(service)) return callColocated(deps, method, outgoing)
  for (;;) {
    const connection = deps.pool.next({
      isBatched: isBatched(method.path),
      isLongPoll: outgoing.answerNow !== undefined,
    })
    const stream = connection?.stream
    try {
      const response = stream && (await callOnStream(stream, outgoing))
      if (response) return method.responseDeserialize(response)
      return await callUnconnected(deps, method, outgoing, connection)
    } catch (error) {
      if (!(error instanceof UnresponsiveReplica)) throw error
    }
  }
}

/** Calls a service of this process. */
async function callColocated(
  { identity, service }: ClientDeps,
  method: Method,
  outgoing: OutgoingCall,
) {
  try {
    return method.responseDeserialize(await callLocally(identity, service, outgoing))
  } catch (error) {
    throw toFault({ ...(error as Failure), cause: error })
  }
}

/** Makes a unary call: to the replica of a connection, or to any replica while none is connected. */
async function callUnconnected(
  { service, channels, identity }: ClientDeps,
  method: Method,
  outgoing: OutgoingCall,
  connection: MultiplexedConnection | undefined,
) {
  const { request, deadline, signal, canMove } = outgoing
  const moved = new AbortController()
  const watch = connection?.stream?.watchUnary(() => {
    if (canMove()) moved.abort()
  })
  const cancelled = AbortSignal.any([moved.signal, ...(signal ? [signal] : [])])
  const call = () => {
    const metadata = toMetadata(identity.serviceToken(service), outgoing)
    const channel = connection?.stream ? connection.channel : channels.next()
    return callUnary(channel, method, request, { deadline, signal: cancelled, metadata })
  }
  try {
    return await retryUnconnected(call, { deadline, signal: cancelled })
  } catch (error) {
    throw moved.signal.aborted && !signal?.aborted ? new UnresponsiveReplica() : error
  } finally {
    watch?.release()
  }
}

function toMetadata(serviceToken: string, outgoing: OutgoingCall): Metadata {
  const { caller, requestId, clientAddress, traceparent } = outgoing
  const metadata = new Metadata()
  metadata.set(SERVICE_TOKEN_HEADER, serviceToken)
  if (caller) metadata.set(CALLER_HEADER, caller)
  if (requestId) metadata.set(REQUEST_ID_HEADER, requestId)
  if (clientAddress) metadata.set(CLIENT_ADDRESS_HEADER, clientAddress)
  if (traceparent) metadata.set(TRACEPARENT_HEADER, traceparent)
  return metadata
}

/** Repeats a call that found no connection, within its deadline. */
async function retryUnconnected(
  call: () => Promise<unknown>,
  { deadline, signal }: Omit<UnaryCallOptions, 'metadata'>,
) {
  try {
    return await retry(call, {
      budgetMs: deadline - Date.now(),
      pauseMs: RETRY_MS,
      maxRetries: MAX_RETRIES,
      isRetryable: (error) => wasNotSent(error as ServiceError) && !signal?.aborted,
    })
  } catch (error) {
    throw toError(error as ServiceError)
  }
}

/**
 * Returns undefined for a large request, and for an rpc that the replica does not serve on streams, such as
 * the standard health check.
 */
async function callOnStream(
  stream: MultiplexedStream,
  outgoing: OutgoingCall,
): Promise<Buffer | undefined> {
  if (outgoing.request.length > MAX_STREAM_REQUEST_BYTES) return undefined
  try {
    return await stream.call(outgoing)
  } catch (error) {
    if (error instanceof UnresponsiveReplica) throw error
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

/** grpc-js reports these details if no subchannel was ready and it has not written a byte of the call. */
const wasNotSent = (error: ServiceError) =>
  error.code === status.UNAVAILABLE &&
  /No connection established|ECONNREFUSED|Server shutting down/.test(error.details)
