import type { Settings } from '@windlass/runtime/config/settings'
import { type Bus, openBus } from '@windlass/runtime/nats/bus'
import { type Db, type DbOptions, openDb, openReadyDb } from '@windlass/runtime/postgres/db'
import { warnOfSharedRole } from '@windlass/runtime/postgres/service-role'
import { sql } from '@windlass/runtime/postgres/sql'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, type LoopOptions, loop } from '@windlass/runtime/process/loop'
import type { Runtime } from '@windlass/runtime/process/main'
import {
  watchClientCertificate,
  watchDatabaseCertificate,
} from '@windlass/runtime/tls/client-certificate'
import { RpcServer } from './server.ts'
import { openServiceIdentity, type ServiceIdentity } from './service-identity.ts'

/** The parts that every service with an RPC interface has. Each registers its own teardown. */
export interface Service {
  readonly db: Db
  /**
   * Opens further connections to the same schema, for reads that may be slow: however many of them wait,
   * the connections of `db` stay free.
   */
  openReads(): Db
  readonly serviceIdentity: ServiceIdentity
  /** Accepts no calls yet: the service declares its rpcs, then calls `listen`. */
  readonly rpc: RpcServer
  openBus(): Promise<Bus>
  /** Starts background work that stops with the service. */
  startLoop(
    name: string,
    pauseMs: number,
    work: () => Promise<unknown>,
    options?: Pick<LoopOptions, 'wakeDelayMs'>,
  ): Loop
  /** Accepts calls on the configured address and returns the port; healthy while the database responds. */
  listen(): Promise<number>
}

/** Connections for slow reads, as a fraction of `max_connections` and in addition to these. */
const READS_SHARE = 0.4
/** Time limit of an rpc: a longer statement would finish too late. */
const READ_MS = 10_000

/**
 * Opens the database of a service, its identity and its RPC server. Teardown runs in reverse order of
 * creation, so call `listen` last: calls then stop before the resources that they use are closed.
 */
export async function openService(
  name: string,
  settings: Settings,
  runtime: Runtime,
  options: Pick<DbOptions, 'lockMs' | 'plainScans'> = {},
): Promise<Service> {
  const { log, teardown, readiness, colocation } = runtime
  const { postgres, nats } = settings
  const { url, max_connections: maxConnections } = postgres
  // First: a configuration error must be reported without waiting for the database.
  const serviceIdentity = await openServiceIdentity(settings, name, runtime)
  await watchDatabaseCertificate(url, runtime)
  const db = await openReadyDb({ url, schema: name }, log, { maxConnections, ...options })
  teardown.add('database', () => db.close())
  void warnOfSharedRole(db, log)
  void logVersion(db, log)
  const checkDatabase = () => db.check()
  readiness.add('database', checkDatabase)
  const rpc = new RpcServer(log, serviceIdentity)
  return {
    db,
    openReads() {
      const most = Math.max(1, Math.round(maxConnections * READS_SHARE))
      const reads = openDb(url, name, { maxConnections: most, statementMs: READ_MS, log })
      teardown.add('database for reads', () => reads.close())
      return reads
    },
    serviceIdentity,
    rpc,
    async openBus() {
      await watchClientCertificate('nats', nats, runtime)
      const bus = await openBus(nats.url, log, nats.prefix, { ...nats, colocation })
      teardown.add('bus', () => bus.close())
      return bus
    },
    startLoop(loopName, pauseMs, work, loopOptions) {
      const running = loop({ name: loopName, pauseMs, log, ...loopOptions }, work)
      teardown.add(loopName, () => running.stop())
      return running
    },
    listen() {
      teardown.add('rpc', () => rpc.stop())
      return rpc.listen(settings.listen, [checkDatabase])
    },
  }
}

/** Records which PostgreSQL server this process uses. */
async function logVersion(db: Db, log: Logger): Promise<void> {
  const row = await db.maybe<{ version: string }>(sql`select version()`).catch(() => undefined)
  if (row) log.info({ version: row.version }, 'PostgreSQL connected')
}
