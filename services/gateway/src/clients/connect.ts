import type { ExecutionTokens } from '@windlass/domain/execution-tokens'
import { CatalogService, type Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { DispatcherService, FleetService } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import {
  ApprovalsService,
  ExecutionsService,
  QueueService,
} from '@windlass/proto/windlass/executions/v1/executions'
import { AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import { IdentityService, type Session } from '@windlass/proto/windlass/identity/v1/identity'
import {
  type Account,
  ApiKeysService,
  PrincipalsService,
  RolesService,
} from '@windlass/proto/windlass/identity/v1/principals'
import { ConfigsService, SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import { SchedulerService } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { connect, type RpcClient } from '@windlass/rpc/client'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Bus } from '@windlass/runtime/nats/bus'
import type { Logger } from '@windlass/runtime/process/log'
import type { Redis } from '@windlass/runtime/redis/redis'
import { type AuthenticateToken, createApiKeyAuthenticator, isApiKey } from '../access/api-key.ts'
import { createOidcAuthenticator } from '../access/oidc.ts'
import type { RateLimit } from '../access/rate-limit.ts'
import { GenerationCache } from '../cache/generation-cache.ts'
import { createGenerationReader } from '../cache/generation-reader.ts'
import type { InputSchemaCache } from '../cache/input-schemas.ts'
import { UsageReportingCache } from '../cache/usage-reporting-cache.ts'
import { declaredSecrets } from '../domain/entries.ts'
import type { ExecutionSubscriptions } from '../live/execution-subscriptions.ts'
import type { AuditLog } from './audit-log.ts'
import type { DispatcherStreams } from './dispatcher-streams.ts'
import type { ExecutionsClient } from './executions.ts'
import type { Health } from './health.ts'
import type { HeartbeatClient } from './heartbeats.ts'

/** Everything that rules and handlers reach. */
export interface Services {
  settings: Settings
  executions: ExecutionsClient
  approvals: RpcClient<typeof ApprovalsService>
  queue: RpcClient<typeof QueueService>
  subscriptions: ExecutionSubscriptions
  catalog: RpcClient<typeof CatalogService>
  dispatcher: RpcClient<typeof DispatcherService>
  fleet: RpcClient<typeof FleetService>
  heartbeats: HeartbeatClient
  scheduler: RpcClient<typeof SchedulerService>
  identity: RpcClient<typeof IdentityService>
  principals: RpcClient<typeof PrincipalsService>
  keys: RpcClient<typeof ApiKeysService>
  roles: RpcClient<typeof RolesService>
  secrets: RpcClient<typeof SecretsService>
  configs: RpcClient<typeof ConfigsService>
  audit: RpcClient<typeof AuditService>
  auditLog: AuditLog
  /** A workflow without its source; version 0 is the latest. Remembered for as long as the catalog stands still. */
  resolveWorkflow(namespace: string, name: string, version: number): Promise<Workflow>
  /** Who a bearer token stands for; `unauthenticated` for nobody. */
  authenticateToken: AuthenticateToken
  /** Reads the tokens under which workers act for executions. */
  executionTokens: ExecutionTokens
  /** What a principal may do now; `not_found` for nobody's name. */
  getAccount(subject: string, external_issuer: string): Promise<Account>
  /** Whose session a token is; `unauthenticated` for nobody's. Remembered until a session ends. */
  getSession(token: string): Promise<Session>
  /** The secrets that a version of a workflow, by its id, declares. Remembered as `resolve` is. */
  getDeclaredSecrets(workflow_id: string): Promise<ReadonlySet<string>>
  inputSchemas: InputSchemaCache
  registrationLimit: RateLimit
  tokenTestLimit: RateLimit
  dispatcherStreams: DispatcherStreams
  health: Health
  bus: Bus
  /** The OpenAPI document of the routes, which cannot be had from the routes themselves. */
  openapi: Record<string, unknown>
}

export type Clients = ReturnType<typeof connectServices>

export function connectServices({ services }: Settings, serviceIdentity: ServiceIdentity) {
  const clients = {
    executions: connect(ExecutionsService, services.executions, serviceIdentity),
    approvals: connect(ApprovalsService, services.executions, serviceIdentity),
    queue: connect(QueueService, services.executions, serviceIdentity),
    catalog: connect(CatalogService, services.catalog, serviceIdentity),
    dispatcher: connect(DispatcherService, services.dispatcher, serviceIdentity),
    fleet: connect(FleetService, services.dispatcher, serviceIdentity),
    scheduler: connect(SchedulerService, services.scheduler, serviceIdentity),
    identity: connect(IdentityService, services.identity, serviceIdentity),
    principals: connect(PrincipalsService, services.identity, serviceIdentity),
    keys: connect(ApiKeysService, services.identity, serviceIdentity),
    roles: connect(RolesService, services.identity, serviceIdentity),
    secrets: connect(SecretsService, services.identity, serviceIdentity),
    configs: connect(ConfigsService, services.identity, serviceIdentity),
    audit: connect(AuditService, services.identity, serviceIdentity),
  }
  return {
    ...clients,
    close: () => {
      for (const client of Object.values(clients)) client.close()
    },
  }
}

export function createCaches(
  { security, workers }: Settings,
  { redis, log }: { redis: Redis; log: Logger },
  { catalog, identity, keys, principals }: Clients,
): Pick<
  Services,
  'resolveWorkflow' | 'authenticateToken' | 'getAccount' | 'getSession' | 'getDeclaredSecrets'
> {
  const readCatalog = createGenerationReader(redis, 'catalog')
  const workflows = new GenerationCache(readCatalog, (key) => {
    const [namespace = '', name = '', version] = key.split('/')
    return catalog.resolve({ namespace, name, version: Number(version) })
  })
  const readAuth = createGenerationReader(redis, 'auth')
  const sessions = new UsageReportingCache(readAuth, (token) => identity.checkSession({ token }), {
    reportIntervalMs: sessionReportIntervalMs(workers.session_idle_timeout),
  })
  const byKey = createApiKeyAuthenticator(keys, readAuth)
  const accounts = new GenerationCache(readAuth, (key) => {
    const [subject, external_issuer] = JSON.parse(key) as [string, string]
    return principals.resolve({ subject, external_issuer })
  })
  const accountOf: Services['getAccount'] = (...ref) => accounts.get(JSON.stringify(ref))
  const { oidc: issuer } = security.auth
  const warn = (err: unknown) => log.warn({ err }, 'the keys of the OIDC issuer cannot be had')
  const oidc = issuer.enabled
    ? createOidcAuthenticator(issuer, { accountOf, principals }, warn)
    : undefined
  const secrets = new GenerationCache(readCatalog, async (id) =>
    declaredSecrets((await catalog.getById({ id })).metadata_json),
  )
  return {
    resolveWorkflow: (namespace, name, version) => workflows.get(`${namespace}/${name}/${version}`),
    authenticateToken: (token) => (oidc && !isApiKey(token) ? oidc(token) : byKey(token)),
    getAccount: accountOf,
    getSession: (token) => sessions.get(token),
    getDeclaredSecrets: (workflow_id) => secrets.get(workflow_id),
  }
}

const HOUR_MS = 3_600_000

/** Often enough that no session ends while it is used, and rarely enough for thousands of idle workers. */
const sessionReportIntervalMs = (idleS: number) => Math.min(HOUR_MS, (idleS * 1_000) / 4)
