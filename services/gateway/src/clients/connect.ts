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
import { type CallerOf, callersByKey, isApiKey } from '../access/api-key.ts'
import { callersByOidc } from '../access/oidc.ts'
import type { RateLimit } from '../access/rate-limit.ts'
import { EpochCache } from '../cache/generation-cache.ts'
import { epochReader } from '../cache/generation-reader.ts'
import type { InputSchemas } from '../cache/input-schemas.ts'
import { InUse } from '../cache/usage-reporting-cache.ts'
import { declaredSecrets } from '../domain/entries.ts'
import type { Waiters } from '../live/execution-subscriptions.ts'
import type { AuditLog } from './audit-log.ts'
import type { DispatcherStreams } from './dispatcher-streams.ts'
import type { Executions } from './executions.ts'
import type { Health } from './health.ts'
import type { Pongs } from './heartbeats.ts'

/** Everything that rules and handlers reach. */
export interface Services {
  settings: Settings
  executions: Executions
  approvals: RpcClient<typeof ApprovalsService>
  queue: RpcClient<typeof QueueService>
  waiters: Waiters
  catalog: RpcClient<typeof CatalogService>
  dispatcher: RpcClient<typeof DispatcherService>
  fleet: RpcClient<typeof FleetService>
  pongs: Pongs
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
  resolve(namespace: string, name: string, version: number): Promise<Workflow>
  /** Who a bearer token stands for; `unauthenticated` for nobody. */
  callerOf: CallerOf
  /** Reads the tokens under which workers act for executions. */
  executionTokens: ExecutionTokens
  /** What a principal may do now; `not_found` for nobody's name. */
  accountOf(subject: string, external_issuer: string): Promise<Account>
  /** Whose session a token is; `unauthenticated` for nobody's. Remembered until a session ends. */
  sessionOf(token: string): Promise<Session>
  /** The secrets that a version of a workflow, by its id, declares. Remembered as `resolve` is. */
  secretsOf(workflow_id: string): Promise<ReadonlySet<string>>
  schemas: InputSchemas
  registrations: RateLimit
  tokenTests: RateLimit
  streams: DispatcherStreams
  health: Health
  bus: Bus
  /** The OpenAPI document of the routes, which cannot be had from the routes themselves. */
  openapi: Record<string, unknown>
}

export type Clients = ReturnType<typeof connectAll>

export function connectAll({ services }: Settings, serviceIdentity: ServiceIdentity) {
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

export function rememberedBy(
  { security, workers }: Settings,
  { redis, log }: { redis: Redis; log: Logger },
  { catalog, identity, keys, principals }: Clients,
): Pick<Services, 'resolve' | 'callerOf' | 'accountOf' | 'sessionOf' | 'secretsOf'> {
  const readCatalog = epochReader(redis, 'catalog')
  const workflows = new EpochCache(readCatalog, (key) => {
    const [namespace = '', name = '', version] = key.split('/')
    return catalog.resolve({ namespace, name, version: Number(version) })
  })
  const readAuth = epochReader(redis, 'auth')
  const sessions = new InUse(readAuth, (token) => identity.checkSession({ token }), {
    tellMs: sessionTellMs(workers.session_idle_timeout),
  })
  const byKey = callersByKey(keys, readAuth)
  const accounts = new EpochCache(readAuth, (key) => {
    const [subject, external_issuer] = JSON.parse(key) as [string, string]
    return principals.resolve({ subject, external_issuer })
  })
  const accountOf: Services['accountOf'] = (...ref) => accounts.get(JSON.stringify(ref))
  const { oidc: issuer } = security.auth
  const warn = (err: unknown) => log.warn({ err }, 'the keys of the OIDC issuer cannot be had')
  const oidc = issuer.enabled ? callersByOidc(issuer, { accountOf, principals }, warn) : undefined
  const secrets = new EpochCache(readCatalog, async (id) =>
    declaredSecrets((await catalog.getById({ id })).metadata_json),
  )
  return {
    resolve: (namespace, name, version) => workflows.get(`${namespace}/${name}/${version}`),
    callerOf: (token) => (oidc && !isApiKey(token) ? oidc(token) : byKey(token)),
    accountOf,
    sessionOf: (token) => sessions.get(token),
    secretsOf: (workflow_id) => secrets.get(workflow_id),
  }
}

const HOUR_MS = 3_600_000

/** Often enough that no session ends while it is used, and rarely enough for thousands of idle workers. */
const sessionTellMs = (idleS: number) => Math.min(HOUR_MS, (idleS * 1_000) / 4)
