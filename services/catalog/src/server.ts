import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { RpcServer } from '@windlass/rpc/server'
import { openServiceIdentity } from '@windlass/rpc/service-identity'
import type { Settings } from '@windlass/runtime/config/settings'
import { openBus } from '@windlass/runtime/nats/bus'
import { openDb } from '@windlass/runtime/postgres/db'
import { relayOutbox } from '@windlass/runtime/postgres/outbox'
import { warnOfSharedRole } from '@windlass/runtime/postgres/service-role'
import { sql } from '@windlass/runtime/postgres/sql'
import { loop } from '@windlass/runtime/process/loop'
import type { Runtime } from '@windlass/runtime/process/main'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import * as access from './access.ts'
import { Analyzer } from './analysis/analyzer.ts'
import { Pool } from './analysis/pool.ts'
import { handlers } from './handlers/index.ts'
import { finishEpochs } from './loops/finish-epochs.ts'

const FLOOR_MS = 1_000
/** How long one source may be read, and how long that may last on a machine that is busy with other things. */
const ANALYSIS_MS = 2_000
const PATIENCE_MS = 10_000

/** Builds the service from the outside in; teardown takes it apart in the opposite order. */
export async function start(settings: Settings, { log, teardown }: Runtime) {
  const { postgres, nats, catalog } = settings
  const db = openDb(postgres.url, 'catalog', { maxConnections: postgres.max_connections })
  teardown.add('database', () => db.close())
  void warnOfSharedRole(db, log)
  const redis = openRedis(settings.redis.url)
  teardown.add('redis', () => redis.disconnect())
  const bus = await openBus(nats.url, log, nats.prefix)
  teardown.add('bus', () => bus.close())
  const limits = { limitMs: ANALYSIS_MS, patienceMs: PATIENCE_MS }
  const pool = new Pool({ sdkModules: catalog.sdk_modules, ...limits, log })
  teardown.add('analysis', () => pool.stop())

  const relaying = loop({ name: 'relay', pauseMs: FLOOR_MS, log }, () => relayOutbox(db, bus))
  teardown.add('relay', () => relaying.stop())
  const epochs = loop({ name: 'epochs', pauseMs: FLOOR_MS, log }, () =>
    finishEpochs(db, redis, log),
  )
  teardown.add('epochs', () => epochs.stop())
  await redisReady(redis)

  const rpc = new RpcServer(log, await openServiceIdentity(settings, 'catalog', log))
  rpc.serve(
    CatalogService,
    handlers({
      db,
      redis,
      log,
      relay: relaying,
      analyzer: new Analyzer((source) => pool.read(source)),
      maxSourceBytes: catalog.max_workflow_upload_bytes,
    }),
    access.catalog,
  )
  const grpc = await rpc.listen(settings.listen, [() => db.run(sql`select 1`)])
  teardown.add('rpc', () => rpc.stop())
  return { grpc }
}
