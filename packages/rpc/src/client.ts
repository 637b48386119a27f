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
import { CALLER, type CallOptions, type ClientOf, CREDENTIAL, FAULT, REQUEST_ID } from './call.ts'
import { Channels, Lines } from './connection-pool.ts'
import type { Asking, Line } from './multiplexed-client.ts'
import { serviceOf } from './policy.ts'
import type { Cluster } from './service-identity.ts'

const UNARY_MS = 10_000
/** How long a call waits for a replica that is being restarted. */
const RETRY_MS = 100
const RETRIES = 20

type Method = MethodDefinition<unknown, unknown>

/** The other end is of a release that does not have this rpc. */
export class UnknownRpc extends Error {
  override readonly name = 'UnknownRpc'
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
  cluster: Cluster,
  service = serviceOf(definition),
): RpcClient<S> {
  const numeric = addresses.map((address) => address.replace(/^localhost(?=:|$)/, '127.0.0.1'))
  const channels = new Channels(numeric, cluster)
  const lines = new Lines({ service, addresses: numeric }, cluster)
  const way = { service, channels, lines, cluster }
  const rpcs = Object.entries(definition).map(([rpc, method]) => [rpc, unary(way, method)])
  const close = () => {
    lines.close()
    channels.close()
  }
  return { ...Object.fromEntries(rpcs), close }
}

interface Way {
  service: string
  channels: Channels
  lines: Lines
  cluster: Cluster
}

function unary({ service, channels, lines, cluster }: Way, method: Method) {
  return async (request: unknown, options: CallOptions = {}) => {
    const { timeoutMs = UNARY_MS, signal, hurry, requestId = '' } = options
    const deadline = Date.now() + timeoutMs
    const bytes = method.requestSerialize(request)
    const { path } = method
    const caller = options.caller ? cluster.vouch(options.caller, service, path) : ''
    const line = lines.next(bytes)
    const asking = { path, request: bytes, deadline, signal, hurry, caller, requestId }
    const response = line && (await asked(line, asking))
    if (response) return method.responseDeserialize(response)
    const call = () => {
      const metadata = new Metadata()
      metadata.set(CREDENTIAL, cluster.credential(service))
      if (caller) metadata.set(CALLER, caller)
      if (requestId) metadata.set(REQUEST_ID, requestId)
      return once(channels.next(), method, bytes, { deadline, signal, metadata })
    }
    return persistent(call, { deadline, signal })
  }
}

/** Repeats a call that found no connection, for a while. */
async function persistent(
  call: () => Promise<unknown>,
  { deadline, signal }: Omit<Sending, 'metadata'>,
) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      const again = attempt < RETRIES && neverSent(error as ServiceError) && !signal?.aborted
      if (!again || Date.now() + RETRY_MS > deadline) throw thrown(error as ServiceError)
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}

/** Undefined for an rpc that the server does not take on a stream, such as the standard health check. */
async function asked(line: Line, asking: Asking): Promise<Buffer | undefined> {
  try {
    return await line.ask(asking)
  } catch (error) {
    const failure = error as Failure
    if (failure.code === status.UNIMPLEMENTED) return undefined
    throw faultOf({ ...failure, cause: error })
  }
}

interface Sending {
  deadline: number
  signal: AbortSignal | undefined
  metadata: Metadata
}

function once(channel: Client, method: Method, request: Buffer, sending: Sending) {
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
const neverSent = (error: ServiceError) =>
  error.code === status.UNAVAILABLE &&
  /No connection established|ECONNREFUSED|Server shutting down/.test(error.details)

const OUT_OF_REACH = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED])

interface Failed extends Failure {
  cause: unknown
}

function thrown(error: ServiceError): Error {
  const [trailer = ''] = error.metadata?.get(FAULT) ?? []
  const { code, details: message } = error
  return faultOf({ code, message, fault: Buffer.from(trailer), cause: error })
}

function faultOf({ code, message, fault, cause }: Failed): Error {
  if (fault.length > 0) {
    const { kind, details } = JSON.parse(fault.toString()) as {
      kind: Kind
      details?: Record<string, unknown>
    }
    return new Fault(kind, message, { details, cause })
  }
  if (OUT_OF_REACH.has(code)) return unavailable('a needed service is out of reach', cause)
  if (code === status.UNIMPLEMENTED) return new UnknownRpc(message, { cause })
  return new Error(`rpc failed: ${message}`, { cause })
}
