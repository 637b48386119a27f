import {
  Client,
  type ClientOptions,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import type { Cluster } from './cluster.ts'
import { Fault, type Kind, unavailable } from './faults.ts'
import {
  CALLER,
  type CallOptions,
  type ClientOf,
  CREDENTIAL,
  FAULT,
  MAX_MESSAGE_BYTES,
} from './rpc.ts'

const UNARY_MS = 10_000
/** How long a call waits for a replica that is being restarted. */
const RETRY_MS = 100
const RETRIES = 20

type Method = MethodDefinition<unknown, unknown>

export type RpcClient<Service> = ClientOf<Service> & { close(): void }

const OPTIONS: ClientOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.min_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
}

/**
 * A client of all replicas of a service. Calls carry a deadline and fail with the very Fault the
 * service threw, or `unavailable`. A call that found no connection was not seen by anyone and is
 * tried again; one that broke under way is not, unless its rpc is safe to repeat and the caller does so.
 */
export function connect<S extends ServiceDefinition>(
  service: S,
  addresses: readonly string[],
  cluster: Cluster,
): RpcClient<S> {
  const target = `ipv4:${addresses.map((address) => address.replace('localhost', '127.0.0.1')).join(',')}`
  const { tls } = cluster
  const channel = tls
    ? new Client(target, credentials.createSsl(tls.ca, tls.key, tls.cert), {
        ...OPTIONS,
        'grpc.ssl_target_name_override': tls.serverName,
      })
    : new Client(target, credentials.createInsecure(), OPTIONS)
  const rpcs = Object.entries(service).map(([rpc, method]) => [
    rpc,
    unary(channel, method, cluster),
  ])
  return { ...Object.fromEntries(rpcs), close: () => channel.close() }
}

function unary(channel: Client, method: Method, cluster: Cluster) {
  return async (request: unknown, { timeoutMs = UNARY_MS, signal, caller }: CallOptions = {}) => {
    const deadline = Date.now() + timeoutMs
    const metadata = () => {
      const shown = new Metadata()
      shown.set(CREDENTIAL, cluster.credential())
      if (caller) shown.set(CALLER, caller)
      return shown
    }
    for (let attempt = 0; ; attempt++) {
      try {
        return await once(channel, method, request, { deadline, signal, metadata: metadata() })
      } catch (error) {
        const again = attempt < RETRIES && neverSent(error as ServiceError) && !signal?.aborted
        if (!again || Date.now() + RETRY_MS > deadline) throw faultOf(error as ServiceError)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }
}

interface Sending {
  deadline: number
  signal: AbortSignal | undefined
  metadata: Metadata
}

function once(channel: Client, method: Method, request: unknown, sending: Sending) {
  const { deadline, signal, metadata } = sending
  return new Promise((resolve, reject) => {
    const call = channel.makeUnaryRequest(
      method.path,
      method.requestSerialize,
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

function faultOf(error: ServiceError): Error {
  const [trailer] = error.metadata?.get(FAULT) ?? []
  if (trailer) {
    const { kind, details } = JSON.parse(trailer.toString()) as {
      kind: Kind
      details?: Record<string, unknown>
    }
    return new Fault(kind, error.details, { details, cause: error })
  }
  if (OUT_OF_REACH.has(error.code)) return unavailable('a needed service is out of reach', error)
  return new Error(`rpc failed: ${error.details}`, { cause: error })
}
