import { AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import { IdentityService, WorkerTokensService } from '@windlass/proto/windlass/identity/v1/identity'
import {
  ApiKeysService,
  PrincipalsService,
  RolesService,
} from '@windlass/proto/windlass/identity/v1/principals'
import { ConfigsService, SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import { ViewsService } from '@windlass/proto/windlass/identity/v1/views'
import { openService, type Service } from '@windlass/rpc/open-service'
import { CacheInvalidator } from '@windlass/runtime/cache-generation'
import { requireAuthSecrets } from '@windlass/runtime/config/auth-secrets'
import { ConfigError } from '@windlass/runtime/config/config-error'
import type { Settings } from '@windlass/runtime/config/settings'
import { readAtStart } from '@windlass/runtime/postgres/wait-for-postgres'
import type { Runtime } from '@windlass/runtime/process/main'
import { openServiceRedis } from '@windlass/runtime/redis/open-service-redis'
import { redisReady } from '@windlass/runtime/redis/redis'
import * as access from './access.ts'
import { requireReviewedChanges } from './engine/anonymous-review.ts'
import { deletePruned, expireAudit } from './engine/audit-pruning.ts'
import { createBootstrapTokenReader } from './engine/bootstrap-token.ts'
import { CheckpointKeys } from './engine/checkpoint-keys.ts'
import { ConfigUses } from './engine/config-uses.ts'
import { deriveKeyring } from './engine/derive-keyring.ts'
import { SecretUses } from './engine/secret-uses.ts'
import { signHead } from './engine/sign-checkpoints.ts'
import { openUsePolicy } from './engine/use-policy.ts'
import { auditHandlers } from './handlers/audit-handlers.ts'
import { configHandlers } from './handlers/config-handlers.ts'
import { handlers } from './handlers/index.ts'
import { keyHandlers } from './handlers/key-handlers.ts'
import { principalHandlers } from './handlers/principal-handlers.ts'
import { roleHandlers } from './handlers/role-handlers.ts'
import { secretHandlers } from './handlers/secret-handlers.ts'
import { viewHandlers } from './handlers/view-handlers.ts'
import { workerTokenHandlers } from './handlers/worker-token-handlers.ts'
import { deleteEndedSessions, endExpiredSessions } from './loops/end-sessions.ts'
import { observeCheckpoints, observeKeyAge } from './observe.ts'
import { authMarkers } from './store/pending-invalidations.ts'
import { deleteExpired } from './store/secrets.ts'
import { deleteOlder } from './store/used-configs.ts'

const USED_SECRETS = [
  '[svc.security.encryption].encryption_key',
  '[svc.workers].bootstrap_token',
] as const
const INVALIDATE_INTERVAL_MS = 1_000
const DELETE_INTERVAL_MS = 600_000
const DELETE_SECRETS_INTERVAL_MS = 60_000
const END_INTERVAL_MS = 5_000
const RECORD_INTERVAL_MS = 1_000
const DELETE_USES_INTERVAL_MS = 3_600_000
/** More than a year, so that a yearly run is not forgotten. */
const KEEP_USES_DAYS = 400

/** Builds the service, from its stores to its rpcs; teardown runs in reverse order. */
export async function start(settings: Settings, runtime: Runtime) {
  const { log } = runtime
  requireAuthSecrets(settings, { log, secrets: USED_SECRETS })
  requireSigningKey(settings)
  const { workers, security } = settings
  const service = await openService('identity', settings, runtime)
  const { db, rpc } = service
  await readAtStart(log, () => requireReviewedChanges(db, settings))
  const redis = await openServiceRedis(settings.redis, runtime)
  await redisReady(redis)

  const bootstrapToken = createBootstrapTokenReader(settings, log)
  await bootstrapToken()
  const keys = await readAtStart(log, () => deriveKeyring(db, security.encryption))
  if (keys) runtime.teardown.add('metrics', observeKeyAge(db, keys))
  const checkpointKeys = new CheckpointKeys(keys)
  if (keys) startAuditLoops(service, settings, { runtime, keys: checkpointKeys })

  const { verifyCaller } = service.serviceIdentity
  const uses = new SecretUses(db, settings.audit.level !== 'changes')
  const configUses = new ConfigUses(db)
  const policy = await readAtStart(log, () => openUsePolicy({ db, settings, verifyCaller }))

  const caches = new CacheInvalidator({ db, redis, markers: authMarkers, log })
  const sessionLimits = {
    idleS: workers.session_idle_timeout,
    maxAgeS: workers.session_max_age,
  }
  service.startLoop('invalidate caches', INVALIDATE_INTERVAL_MS, () => caches.sweep())
  service.startLoop('delete ended sessions', DELETE_INTERVAL_MS, () => deleteEndedSessions(db))
  service.startLoop('delete previous secrets', DELETE_SECRETS_INTERVAL_MS, () => deleteExpired(db))
  service.startLoop('delete config uses', DELETE_USES_INTERVAL_MS, () =>
    deleteOlder(db, KEEP_USES_DAYS),
  )
  runtime.teardown.add('config uses', () => configUses.flush())
  service.startLoop('record config uses', RECORD_INTERVAL_MS, () => configUses.flush())
  service.startLoop('end sessions', END_INTERVAL_MS, () => endExpiredSessions(db, sessionLimits))

  rpc.serve(
    IdentityService,
    handlers({ db, caches, bootstrapToken, sessionLimits }),
    access.identity,
  )
  rpc.serve(WorkerTokensService, workerTokenHandlers(db, caches), access.workerTokens)
  rpc.serve(PrincipalsService, principalHandlers(db, caches), access.principals)
  rpc.serve(ApiKeysService, keyHandlers(db, caches, security.auth.api_keys), access.keys)
  rpc.serve(RolesService, roleHandlers(db, caches), access.roles)
  rpc.serve(
    SecretsService,
    secretHandlers({ db, log, keys, checkpointKeys, policy, uses }),
    access.secrets,
  )
  rpc.serve(ConfigsService, configHandlers({ db, policy, uses: configUses }), access.configs)
  rpc.serve(AuditService, auditHandlers(db, service.serviceIdentity, checkpointKeys), access.audit)
  rpc.serve(ViewsService, viewHandlers(db), access.views)
  return { grpc: await service.listen() }
}

/** Entries are deleted only with a signed checkpoint. */
function requireSigningKey({ retention, security }: Settings): void {
  if (!retention.enabled || retention.audit_days === 0 || security.encryption.encryption_key) return
  throw new ConfigError(
    '[svc.retention].audit_days needs [svc.security.encryption].encryption_key, under which the key that signs checkpoints is encrypted: set it, in svc.toml or as SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY',
  )
}

function startAuditLoops(
  { db, startLoop }: Pick<Service, 'db' | 'startLoop'>,
  { audit, retention }: Settings,
  { runtime: { log, teardown }, keys }: { runtime: Runtime; keys: CheckpointKeys },
): void {
  const intervalS = audit.checkpoint_interval
  teardown.add('metrics of checkpoints', observeCheckpoints(db, intervalS))
  startLoop('sign audit checkpoints', intervalS * 1_000, () =>
    signHead({ db, keys, log }, intervalS),
  )
  if (!retention.enabled || retention.audit_days === 0) return
  startLoop('delete audit entries', retention.sweep_interval * 1_000, async () => {
    const deleted = await expireAudit({ db, keys }, retention.audit_days)
    if (deleted > 0) log.info({ deleted }, 'audit entries pruned')
    return deletePruned(db, retention.batch_size)
  })
}
