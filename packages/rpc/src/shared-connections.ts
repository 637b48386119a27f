import type { Client } from '@grpc/grpc-js'
import { MultiplexedConnection } from './multiplexed-connection.ts'
import type { ServiceIdentity } from './service-identity.ts'

interface SharedConnection {
  connection: MultiplexedConnection
  users: number
}

const shared = new WeakMap<ServiceIdentity, Map<string, SharedConnection>>()

/** A replica of a service. */
interface Replica {
  service: string
  address: string
}

const keyOf = ({ service, address }: Replica) => `${service} ${address}`

/** The connection of this process to a replica, created for its first user. Each user releases it once. */
export function acquireConnection(
  replica: Replica,
  identity: ServiceIdentity,
  openChannel: () => Client,
): MultiplexedConnection {
  const connections = shared.get(identity) ?? new Map<string, SharedConnection>()
  shared.set(identity, connections)
  const existing = connections.get(keyOf(replica))
  if (existing) {
    existing.users++
    return existing.connection
  }
  const connection = new MultiplexedConnection(replica.service, openChannel(), identity)
  connections.set(keyOf(replica), { connection, users: 1 })
  return connection
}

/** Closes the connection when its last user has released it. */
export function releaseConnection(replica: Replica, identity: ServiceIdentity): void {
  const connections = shared.get(identity)
  const existing = connections?.get(keyOf(replica))
  if (!existing || --existing.users > 0) return
  connections?.delete(keyOf(replica))
  existing.connection.close()
}
