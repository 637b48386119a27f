import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { openService } from '@windlass/rpc/open-service'
import { CacheInvalidator } from '@windlass/runtime/cache-generation'
import type { Settings } from '@windlass/runtime/config/settings'
import { observeOutbox, relayOutbox } from '@windlass/runtime/postgres/outbox'
import type { Runtime } from '@windlass/runtime/process/main'
import { openServiceRedis } from '@windlass/runtime/redis/open-service-redis'
import { redisReady } from '@windlass/runtime/redis/redis'
import * as access from './access.ts'
import { AnalysisCache } from './analysis/analysis-cache.ts'
import { AnalysisPool } from './analysis/analysis-pool.ts'
import { createHandlers } from './handlers/index.ts'
import { catalogMarkers } from './store/pending-invalidations.ts'

/** The relay runs after each change; the interval finds events that a crash or an outage of NATS left unpublished. */
const RELAY_INTERVAL_MS = 5_000
const INVALIDATE_INTERVAL_MS = 1_000
/** Limits on the analysis of one source, in processor time and in real time of a busy machine. */
const LIMITS = { maxCpuMs: 2_000, maxWallMs: 10_000 }

/** Builds the service, from its stores to its rpcs; teardown runs in reverse order. */
export async function start(settings: Settings, runtime: Runtime, workerUrl?: URL) {
  const { log, teardown } = runtime
  const { catalog } = settings
  const service = await openService('catalog', settings, runtime)
  const { db, rpc } = service
  const redis = await openServiceRedis(settings.redis, runtime)
  const bus = await service.openBus()
  const pool = new AnalysisPool({ sdkModules: catalog.sdk_modules, ...LIMITS, workerUrl, log })
  teardown.add('analysis', () => pool.stop())

  const relay = service.startLoop('relay', RELAY_INTERVAL_MS, () => relayOutbox(db, bus))
  teardown.add('outbox metrics', observeOutbox(db))
  const onCommit = () => relay.wake()
  const caches = new CacheInvalidator({ db, redis, markers: catalogMarkers, log, onCommit })
  service.startLoop('invalidate-pending', INVALIDATE_INTERVAL_MS, () => caches.sweep())
  await redisReady(redis)

  const analyses = new AnalysisCache((source, principal) => pool.analyse(source, principal))
  const maxSourceBytes = catalog.max_workflow_upload_bytes
  rpc.serve(
    CatalogService,
    createHandlers({ db, caches, analyses, maxSourceBytes }),
    access.catalog,
  )
  return { grpc: await service.listen() }
}
