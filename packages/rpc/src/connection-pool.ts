import { isIPv4 } from 'node:net'
import { Client, type ClientOptions, credentials } from '@grpc/grpc-js'
import { MAX_MESSAGE_BYTES } from './call.ts'
import {
  acquireConnection,
  type MultiplexedConnection,
  type MultiplexedStream,
  type Replica,
  releaseConnection,
} from './multiplexed-client.ts'
import type { ServiceIdentity } from './service-identity.ts'

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
 * The ways by which calls go that no stream takes. Numeric addresses share one, which knows the
 * replicas that are well; of names each has its own, and stands for all the addresses that it has.
 */
export class UnaryChannels {
  readonly #clients: readonly Client[]
  #turn = 0

  constructor(addresses: readonly string[], cluster: ServiceIdentity) {
    const targets = addresses.every(isNumeric)
      ? [`ipv4:${addresses.join(',')}`]
      : addresses.map(targetOf)
    this.#clients = targets.map((target) => channelTo(target, cluster))
  }

  next(): Client {
    return this.#clients[this.#turn++ % this.#clients.length] as Client
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }
}

const isNumeric = (address: string) => isIPv4(address.replace(/:\d+$/, ''))
const targetOf = (address: string) => `${isNumeric(address) ? 'ipv4' : 'dns'}:${address}`

function channelTo(target: string, { tls }: ServiceIdentity): Client {
  return tls
    ? new Client(target, credentials.createSsl(tls.ca, tls.key, tls.cert), {
        ...OPTIONS,
        'grpc.ssl_target_name_override': tls.serverName,
      })
    : new Client(target, credentials.createInsecure(), OPTIONS)
}

/** The streams of calls to the replicas, from the first call on. */
export class MultiplexedPool {
  readonly #replicas: readonly Replica[]
  readonly #identity: ServiceIdentity
  #connections: MultiplexedConnection[] | undefined
  #turn = 0

  constructor(
    { service, addresses }: { service: string; addresses: readonly string[] },
    cluster: ServiceIdentity,
  ) {
    this.#replicas = addresses.map((address) => ({ service, address }))
    this.#identity = cluster
  }

  /** The next replica's that may be asked this. */
  next(request: Buffer): MultiplexedStream | undefined {
    const cluster = this.#identity
    this.#connections ??= this.#replicas.map((replica) =>
      acquireConnection(replica, cluster, () => channelTo(targetOf(replica.address), cluster)),
    )
    for (const _ of this.#connections) {
      const line = this.#connections[this.#turn++ % this.#connections.length]?.streamFor(request)
      if (line) return line
    }
    return undefined
  }

  close(): void {
    if (this.#connections)
      for (const replica of this.#replicas) releaseConnection(replica, this.#identity)
    this.#connections = undefined
  }
}
