import { AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import {
  ApiKeysService,
  PrincipalsService,
  RolesService,
} from '@windlass/proto/windlass/identity/v1/principals'
import { ConfigsService, SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import { RpcServer } from '@windlass/rpc/server'
import { openServiceIdentity } from '@windlass/rpc/service-identity'
import { requireAuthSecrets } from '@windlass/runtime/config/auth-secrets'
import type { Settings } from '@windlass/runtime/config/settings'
import { openDb } from '@windlass/runtime/postgres/db'
import { warnOfSharedRole } from '@windlass/runtime/postgres/service-role'
import { sql } from '@windlass/runtime/postgres/sql'
import { loop } from '@windlass/runtime/process/loop'
import type { Runtime } from '@windlass/runtime/process/main'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import * as access from './access.ts'
import { createBootstrapTokenReader } from './engine/bootstrap-token.ts'
import { invalidatePending } from './engine/cache-invalidation.ts'
import { deriveKeyring } from './engine/derive-keyring.ts'
import { auditHandlers } from './handlers/audit-handlers.ts'
import { configHandlers } from './handlers/config-handlers.ts'
import { handlers } from './handlers/index.ts'
import { keyHandlers } from './handlers/key-handlers.ts'
import { principalHandlers } from './handlers/principal-handlers.ts'
import { roleHandlers } from './handlers/role-handlers.ts'
import { secretHandlers } from './handlers/secret-handlers.ts'
import { deleteEndedSessions, endIdleSessions } from './loops/end-sessions.ts'

const INVALIDATE_INTERVAL_MS = 1_000
const DELETE_ENDED_INTERVAL_MS = 600_000
const END_IDLE_INTERVAL_MS = 60_000

/** Builds the service from the outside in; teardown releases its parts in reverse order. */
export async function start(settings: Settings, { log, teardown }: Runtime) {
  requireAuthSecrets(settings, ['[svc.security.encryption].encryption_key'])
  const db = openDb(settings.postgres.url, 'identity', {
    maxConnections: settings.postgres.max_connections,
  })
  teardown.add('database', () => db.close())
  void warnOfSharedRole(db, log)
  const redis = openRedis(settings.redis.url)
  teardown.add('redis', () => redis.disconnect())
  await redisReady(redis)

  const bootstrapToken = createBootstrapTokenReader(
    settings.home,
    settings.workers.bootstrap_token,
    log,
  )
  await bootstrapToken()
  const keys = await deriveKeyring(settings.security.encryption)

  const invalidateLoop = loop(
    { name: 'invalidate caches', pauseMs: INVALIDATE_INTERVAL_MS, log },
    () => invalidatePending(db, redis),
  )
  teardown.add('invalidate caches', () => invalidateLoop.stop())
  const deleteEndedLoop = loop(
    { name: 'delete ended sessions', pauseMs: DELETE_ENDED_INTERVAL_MS, log },
    () => deleteEndedSessions(db),
  )
  teardown.add('delete ended sessions', () => deleteEndedLoop.stop())

  const { session_idle_timeout: sessionIdleS } = settings.workers
  const endIdleLoop = loop({ name: 'end idle sessions', pauseMs: END_IDLE_INTERVAL_MS, log }, () =>
    endIdleSessions(db, sessionIdleS),
  )
  teardown.add('end idle sessions', () => endIdleLoop.stop())

  const serviceIdentity = await openServiceIdentity(settings, 'identity', log)
  const rpc = new RpcServer(log, serviceIdentity)
  rpc.serve(IdentityService, handlers({ db, redis, bootstrapToken, sessionIdleS }), access.identity)
  rpc.serve(PrincipalsService, principalHandlers(db, redis), access.principals)
  rpc.serve(ApiKeysService, keyHandlers(db, redis), access.keys)
  rpc.serve(RolesService, roleHandlers(db, redis), access.roles)
  rpc.serve(SecretsService, secretHandlers({ db, log, keys }), access.secrets)
  rpc.serve(ConfigsService, configHandlers(db), access.configs)
  rpc.serve(AuditService, auditHandlers(db, serviceIdentity), access.audit)
  teardown.add('rpc', () => rpc.stop())
  const grpc = await rpc.listen(settings.listen, [() => db.run(sql`select 1`)])
  return { grpc }
}
