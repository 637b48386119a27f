import { openExecutionTokens } from '@windlass/domain/execution-tokens'
import { openServiceIdentity, type ServiceIdentity } from '@windlass/rpc/service-identity'
import { requireLoopbackIfAnonymous } from '@windlass/runtime/config/anonymous-network'
import { requireAuthSecrets } from '@windlass/runtime/config/auth-secrets'
import type { Settings } from '@windlass/runtime/config/settings'
import { BodyBudget, bodyBudgetLimits } from '@windlass/runtime/http/body-budget'
import { UnreadAnswers, unreadLimits } from '@windlass/runtime/http/unread-answers'
import { type Bus, openBus } from '@windlass/runtime/nats/bus'
import type { Logger } from '@windlass/runtime/process/log'
import type { Runtime } from '@windlass/runtime/process/main'
import { openServiceRedis } from '@windlass/runtime/redis/open-service-redis'
import { type Redis, redisReady } from '@windlass/runtime/redis/redis'
import { Signer } from '@windlass/runtime/signed'
import { watchClientCertificate } from '@windlass/runtime/tls/client-certificate'
import { ConsoleIdentities } from './access/console-identity.ts'
import { ConsoleOidc, requireConsoleOidc } from './access/console-oidc.ts'
import { ConsoleSessions } from './access/console-session.ts'
import { requireTrustedIssuer } from './access/oidc.ts'
import { createQuotas } from './access/quotas.ts'
import { ReadTurns } from './access/read-turns.ts'
import { createRequestLimits } from './access/request-limits.ts'
import { createTokenAuthenticator } from './access/token-authenticator.ts'
import { createCaches } from './cache/create-caches.ts'
import { createGenerationReader } from './cache/generation-reader.ts'
import { SharedAnswers } from './cache/shared-answers.ts'
import { AuditLog } from './clients/audit-log.ts'
import { BulkProgress } from './clients/bulk-progress.ts'
import { ClaimAnswers } from './clients/claim-answers.ts'
import { type Clients, connectServices } from './clients/connect.ts'
import { DispatcherStreams } from './clients/dispatcher-streams.ts'
import { ExecutionsClient } from './clients/executions-client.ts'
import { watchHealth } from './clients/health-client.ts'
import { HeartbeatClient } from './clients/heartbeats.ts'
import { WorkerPresence } from './clients/worker-presence.ts'
import { JsonText } from './domain/views.ts'
import { readConsoleFiles } from './http/console-files.ts'
import type { RequestContext } from './http/request-context.ts'
import { createRequestLog } from './http/request-log.ts'
import { startServer } from './http/start-server.ts'
import { ExecutionSubscriptions } from './live/execution-subscriptions.ts'
import { ListFeed } from './live/list-feed.ts'
import { Replies } from './live/replies.ts'
import type { BodyParser } from './route/body-parser.ts'
import type { BodyLimits } from './route/body-sizes.ts'
import { BodyThreads } from './route/body-threads.ts'
import { openapi } from './route/openapi.ts'
import { routes } from './routes/index.ts'
import type { FlowClaims } from './routes/oidc-sign-in.ts'

/** A second thread, so that large bodies of one caller do not delay those of all others. */
const BODY_THREADS = 2

/** Creates the parts with which worker routes call the dispatcher, and the one that confirms claims. */
function createWorkerClients(
  { services }: Settings,
  { clients, executions, serviceIdentity, log, teardown }: WorkerClientsDeps,
) {
  const claimAnswers = new ClaimAnswers(executions, log)
  teardown.add('claim answers', () => claimAnswers.stop())
  const presence = new WorkerPresence(clients.fleet, log)
  const dispatcherStreams = new DispatcherStreams(services.dispatcher_streams, serviceIdentity, {
    onWorkerLeft: (name, generation) => presence.reportClosed(name, generation),
  })
  teardown.add('worker streams', () => dispatcherStreams.stop())
  const heartbeats = new HeartbeatClient(clients.fleet)
  return { claimAnswers, presence, dispatcherStreams, heartbeats }
}

interface WorkerClientsDeps extends Pick<Runtime, 'log' | 'teardown'> {
  clients: Pick<Clients, 'fleet'>
  executions: ExecutionsClient
  serviceIdentity: ServiceIdentity
}

interface LiveOptions extends Pick<Runtime, 'log' | 'teardown'> {
  bus: Bus
  executions: ExecutionsClient
  replies: Replies
}

/** Creates the subscriptions with which requests wait for changes. */
function openLive({ bus, executions, replies, log, teardown }: LiveOptions) {
  const subscriptions = new ExecutionSubscriptions(bus, { executions, replies, log })
  teardown.add('subscriptions', () => subscriptions.stop())
  const listFeed = new ListFeed({ bus, log })
  teardown.add('lists', () => listFeed.stop())
  return { subscriptions, listFeed }
}

async function openGatewayBus({ nats }: Settings, runtime: Runtime) {
  const { log, teardown, colocation } = runtime
  await watchClientCertificate('nats', nats, runtime)
  const bus = await openBus(nats.url, log, nats.prefix, { ...nats, colocation })
  teardown.add('bus', () => bus.close())
  return bus
}

/** Builds the gateway; it keeps no state that another replica would miss. */
export async function start(settings: Settings, runtime: Runtime, workerUrl?: URL) {
  const { log, teardown, readiness } = runtime
  requireAuthSecrets(settings, { log, secrets: ['[svc.security].execution_token_secret'] })
  requireLoopbackIfAnonymous(settings, '[svc.server].host', settings.server.host)
  requireTrustedIssuer(settings.security.auth.oidc)
  requireConsoleOidc(settings)
  const redis = await openServiceRedis(settings.redis, runtime)
  const bus = await openGatewayBus(settings, runtime)
  await redisReady(redis)

  const serviceIdentity = await openServiceIdentity(settings, 'gateway', runtime)
  const clients = connectServices(settings, serviceIdentity)
  teardown.add('clients', () => clients.close())
  const health = watchHealth(settings, serviceIdentity, runtime)
  const replies = new Replies(bus)
  const executions = new ExecutionsClient(clients.executions, serviceIdentity, {
    sender: replies.name,
    onSettled: (execution) => subscriptions.deliverSettled(execution),
  })
  const auditLog = new AuditLog(clients.audit, serviceIdentity, log)
  teardown.add('audit log', () => auditLog.stop())
  const { subscriptions, listFeed } = openLive({ bus, executions, replies, log, teardown })
  const readAuth = createGenerationReader(redis, 'auth')
  const readCatalog = createGenerationReader(redis, 'catalog')
  const caches = createCaches(settings.workers, { ...clients, readAuth, readCatalog })
  const bodyThreads = new BodyThreads({ threads: BODY_THREADS, workerUrl })
  teardown.add('body threads', () => bodyThreads.stop())
  const readTurns = new ReadTurns()
  // Each rule and handler names those of these that it uses; the compiler checks that none is missing.
  const deps = {
    ...clients,
    ...caches,
    settings,
    authenticateToken: createTokenAuthenticator(settings.security.auth.oidc, {
      ...clients,
      getAccount: caches.getAccount,
      readAuth,
      log,
    }),
    executionTokens: await openExecutionTokens(settings),
    executions,
    ...createWorkerClients(settings, { clients, executions, serviceIdentity, log, teardown }),
    signCaller: serviceIdentity.signCaller,
    subscriptions,
    listFeed,
    health,
    readiness,
    bus,
    inputSchemas: bodyThreads,
    bulkProgress: new BulkProgress(redis),
    ...createRequestLimits(settings, redis),
    quotas: createQuotas(settings, redis, teardown),
    readTurns,
    logTurns: new ReadTurns(),
    ...pagesOf(settings, redis, log),
  }
  const limits = bodyLimits(settings, bodyThreads)
  const logs = { auditLog, log, requestLog: createRequestLog(log) }
  const requests = { openRequests: new Set<RequestContext>(), readTurns, ...limitsOf(settings) }
  const context = { settings, deps, ...logs, readiness, limits, ...requests }
  const http = await startServer(routes, context)
  teardown.add('http', () => http.stop())
  return { http: http.port }
}

/** Limits of the memory for request bodies and for unread answers, and the answers that are shared. */
const limitsOf = ({ server }: Settings) => ({
  bodyBudget: new BodyBudget(bodyBudgetLimits(server)),
  unreadAnswers: new UnreadAnswers(unreadLimits(server)),
  sharedAnswers: new SharedAnswers(),
})

/** The files that `npm run build` puts next to this program. */
const CONSOLE = new URL('./console/', import.meta.url)

let document: JsonText | undefined
/** Made at the first request for it, because that takes longer than the rest of the start. */
const apiDocument = () => {
  document ??= new JsonText(JSON.stringify(openapi(routes)))
  return document
}

/** Content for browsers: the API document, and the console. */
const pagesOf = (settings: Settings, redis: Redis, log: Logger) => ({
  openapi: apiDocument,
  consoleFiles: settings.console.enabled
    ? readConsoleFiles(CONSOLE, log, settings.server.public_url)
    : new Map(),
  consoleSessions: new ConsoleSessions(redis, {
    idleMs: settings.console.session_idle_timeout * 1_000,
    maxAgeMs: settings.console.session_max_age * 1_000,
  }),
  consoleIdentities: new ConsoleIdentities(settings),
  consoleOidc: consoleOidcOf(settings, log),
})

function consoleOidcOf(settings: Settings, log: Logger) {
  const { execution_token_secret: secret } = settings.security
  if (!settings.console.oidc.enabled || secret === undefined) return undefined
  const onError = (err: unknown) => log.warn({ err }, 'sign-in at the OIDC issuer failed')
  const client = new ConsoleOidc(settings, onError)
  return { client, flows: new Signer<FlowClaims>(secret, 'console sign-in') }
}

const bodyLimits = ({ server, catalog }: Settings, parser: BodyParser): BodyLimits => ({
  maxBytes: server.max_body_bytes,
  maxDepth: server.max_json_depth,
  maxUploadBytes: catalog.max_workflow_upload_bytes,
  parser,
})
