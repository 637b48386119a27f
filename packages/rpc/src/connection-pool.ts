import { Client, type ClientOptions } from '@grpc/grpc-js'
import { MAX_MESSAGE_BYTES } from './call.ts'
import type { MultiplexedConnection } from './multiplexed-connection.ts'
import { ReplicaSet } from './replica-set.ts'
import { isIPv4Address } from './resolve-address.ts'
import type { ServiceIdentity } from './service-identity.ts'
import { acquireConnection, releaseConnection } from './shared-connections.ts'
import { channelCredentialsOf } from './tls-credentials.ts'

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
 * Channels for the calls that do not use a stream: health checks, large requests, and all calls while no
 * stream is open. Numeric addresses share one channel, which balances over the connected replicas; each DNS
 * name has a channel of its own, which balances over the addresses of the name.
 */
export class UnaryChannels {
  readonly #clients: readonly Client[]
  #turn = 0

  constructor(addresses: readonly string[], identity: ServiceIdentity) {
    const targets = addresses.every(isIPv4Address)
      ? [`ipv4:${addresses.join(',')}`]
      : addresses.map(targetOf)
    this.#clients = targets.map((target) => channelTo(target, identity))
  }

  next(): Client {
    return this.#clients[this.#turn++ % this.#clients.length] as Client
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }
}

const targetOf = (address: string) => `${isIPv4Address(address) ? 'ipv4' : 'dns'}:${address}`

function channelTo(target: string, { tls }: ServiceIdentity): Client {
  const options = tls && { 'grpc.ssl_target_name_override': tls.serverName }
  return new Client(target, channelCredentialsOf(tls), { ...OPTIONS, ...options })
}

/**
 * Multiplexed streams to the replicas of a service, opened at the first call and used in turn.
 *
 * Batched calls go to the replica that has run for the longest time, while it has fewer calls of this process than
 * its `limit` (call-limit.ts), then to the next: all clients choose the same one without knowing each other, and one that
 * has just started gets load last. Every second long poll goes in turn, for the work that reaches another replica.
 */
export class MultiplexedPool {
  readonly #service: string
  readonly #addresses: readonly string[]
  readonly #identity: ServiceIdentity
  #replicas: ReplicaSet | undefined
  #turn = 0
  #polls = 0
  #isClosed = false

  constructor(
    { service, addresses }: { service: string; addresses: readonly string[] },
    identity: ServiceIdentity,
  ) {
    this.#service = service
    this.#addresses = addresses
    this.#identity = identity
  }

  /**
   * Returns the connection for a call, with an open stream if there is one; an unresponsive replica only if no
   * other stream is open.
   */
  next(call: { isBatched: boolean; isLongPoll: boolean }): MultiplexedConnection | undefined {
    this.#replicas ??= this.#open()
    const { connections } = this.#replicas
    const isInTurn = !call.isBatched || (call.isLongPoll && this.#polls++ % 2 === 1)
    const oldest = isInTurn ? undefined : oldestWithRoom(connections)
    if (oldest) return oldest
    let unresponsive: MultiplexedConnection | undefined
    for (const _ of connections) {
      const connection = connections[this.#turn++ % connections.length]
      if (connection?.isResponsive) return connection
      if (connection?.stream) unresponsive ??= connection
    }
    return unresponsive
  }

  /** True once the pool is closed: it opens no stream again. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** True if a replica answers. */
  get hasResponsive(): boolean {
    return this.#replicas?.connections.some(({ isResponsive }) => isResponsive) === true
  }

  close(): void {
    this.#isClosed = true
    this.#replicas?.close()
    this.#replicas = undefined
  }

  #open(): ReplicaSet {
    const [service, identity] = [this.#service, this.#identity]
    return new ReplicaSet({
      addresses: this.#addresses,
      acquire: (address) =>
        acquireConnection({ service, address }, identity, () =>
          channelTo(targetOf(address), identity),
        ),
      release: (address) => releaseConnection({ service, address }, identity),
    })
  }
}

/** Returns the connection to the replica that has run for the longest time among those that take more calls. */
function oldestWithRoom(
  connections: readonly MultiplexedConnection[],
): MultiplexedConnection | undefined {
  let oldest: MultiplexedConnection | undefined
  for (const one of connections)
    if (one.isResponsive && one.calls < one.limit && (!oldest || one.startedMs < oldest.startedMs))
      oldest = one
  return oldest
}
