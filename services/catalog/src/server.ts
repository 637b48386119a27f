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
import { AnalysisCache } from './analysis/analysis-cache.ts'
import { AnalysisPool } from './analysis/analysis-pool.ts'
import { createHandlers } from './handlers/index.ts'
import { invalidatePending } from './loops/invalidate-pending.ts'

const POLL_INTERVAL_MS = 1_000
/** Limits on the analysis of one source, in processor time and in real time of a busy machine. */
const LIMITS = { maxCpuMs: 2_000, maxWallMs: 10_000 }

/** Builds the service from the outside in; teardown releases everything in reverse order. */
export async function start(settings: Settings, { log, teardown }: Runtime, workerUrl?: URL) {
  const { postgres, nats, catalog } = settings
  const db = openDb(postgres.url, 'catalog', { maxConnections: postgres.max_connections })
  teardown.add('database', () => db.close())
  void warnOfSharedRole(db, log)
  const redis = openRedis(settings.redis.url)
  teardown.add('redis', () => redis.disconnect())
  const bus = await openBus(nats.url, log, nats.prefix)
  teardown.add('bus', () => bus.close())
  const pool = new AnalysisPool({ sdkModules: catalog.sdk_modules, ...LIMITS, workerUrl, log })
  teardown.add('analysis', () => pool.stop())

  const pauseMs = POLL_INTERVAL_MS
  const relay = loop({ name: 'relay', pauseMs, log }, () => relayOutbox(db, bus))
  teardown.add('relay', () => relay.stop())
  const invalidation = loop({ name: 'invalidate-pending', pauseMs, log }, () =>
    invalidatePending(db, redis, log),
  )
  teardown.add('invalidate-pending', () => invalidation.stop())
  await redisReady(redis)

  const rpc = new RpcServer(log, await openServiceIdentity(settings, 'catalog', log))
  rpc.serve(
    CatalogService,
    createHandlers({
      db,
      redis,
      log,
      relay,
      analyses: new AnalysisCache((source) => pool.analyse(source)),
      maxSourceBytes: catalog.max_workflow_upload_bytes,
    }),
    access.catalog,
  )
  const grpc = await rpc.listen(settings.listen, [() => db.run(sql`select 1`)])
  teardown.add('rpc', () => rpc.stop())
  return { grpc }
}
