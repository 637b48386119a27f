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
import { announce } from './announce.ts'
import { bootstrap } from './bootstrap.ts'
import { encryptionKeys } from './encryption-key.ts'
import { auditHandlers } from './handlers/audit.ts'
import { configHandlers } from './handlers/configs.ts'
import { handlers } from './handlers/index.ts'
import { keyHandlers } from './handlers/keys.ts'
import { principalHandlers } from './handlers/principals.ts'
import { roleHandlers } from './handlers/roles.ts'
import { secretHandlers } from './handlers/secrets.ts'
import { endIdle, forget } from './loops/forget.ts'

const ANNOUNCE_MS = 1_000
const FORGET_MS = 600_000
const END_IDLE_MS = 60_000

/** Builds the service from the outside in; teardown takes it apart in the opposite order. */
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

  const bootstrapToken = bootstrap(settings.home, settings.workers.bootstrap_token, log)
  await bootstrapToken()
  const keys = await encryptionKeys(settings.security.encryption)

  const announcing = loop({ name: 'announce', pauseMs: ANNOUNCE_MS, log }, () =>
    announce(db, redis),
  )
  teardown.add('announce', () => announcing.stop())
  const forgetting = loop({ name: 'forget', pauseMs: FORGET_MS, log }, () => forget(db))
  teardown.add('forget', () => forgetting.stop())

  const { session_idle_timeout: sessionIdleS } = settings.workers
  const ending = loop({ name: 'end idle sessions', pauseMs: END_IDLE_MS, log }, () =>
    endIdle(db, sessionIdleS),
  )
  teardown.add('end idle sessions', () => ending.stop())

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
