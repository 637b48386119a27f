import { openExecutionTokens } from '@windlass/domain/execution-tokens'
import { openServiceIdentity } from '@windlass/rpc/service-identity'
import { requireLoopbackIfAnonymous } from '@windlass/runtime/config/anonymous-network'
import { requireAuthSecrets } from '@windlass/runtime/config/auth-secrets'
import type { Settings } from '@windlass/runtime/config/settings'
import { openBus } from '@windlass/runtime/nats/bus'
import type { Runtime } from '@windlass/runtime/process/main'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { checkIssuer } from './access/oidc.ts'
import { rateLimit } from './access/rate-limit.ts'
import { InputSchemas } from './cache/input-schemas.ts'
import { AuditLog } from './clients/audit-log.ts'
import { connectAll, rememberedBy, type Services } from './clients/connect.ts'
import { DispatcherStreams } from './clients/dispatcher-streams.ts'
import { Executions } from './clients/executions.ts'
import { watchHealth } from './clients/health.ts'
import { Pongs } from './clients/heartbeats.ts'
import type { Exchange } from './http/request-context.ts'
import { requestLog } from './http/request-log.ts'
import { listen } from './http/server.ts'
import { Waiters } from './live/execution-subscriptions.ts'
import { openapi } from './route/openapi.ts'
import { routes } from './routes/index.ts'

/** The contract's, for each client. */
const TOKEN_TESTS = '10/minute'

/** Builds the gateway from the outside in; it keeps nothing that another process would miss. */
export async function start(settings: Settings, { log, teardown }: Runtime) {
  requireAuthSecrets(settings, ['[svc.security].execution_token_secret'])
  requireLoopbackIfAnonymous(settings, '[svc.server].host', settings.server.host)
  checkIssuer(settings.security.auth.oidc)
  const redis = openRedis(settings.redis.url)
  teardown.add('redis', () => redis.disconnect())
  const bus = await openBus(settings.nats.url, log, settings.nats.prefix)
  teardown.add('bus', () => bus.close())
  await redisReady(redis)

  const serviceIdentity = await openServiceIdentity(settings, 'gateway', log)
  const clients = connectAll(settings, serviceIdentity)
  teardown.add('clients', () => clients.close())
  const health = watchHealth(settings, serviceIdentity)
  teardown.add('health', () => health.close())
  const executions = new Executions(clients.executions, serviceIdentity)
  const auditLog = new AuditLog(clients.audit, serviceIdentity, log)
  teardown.add('audit log', () => auditLog.stop())
  const waiters = new Waiters(bus, executions, log)
  teardown.add('waiters', () => waiters.stop())

  const trustedProxies = settings.server.trusted_proxies
  const services: Services = {
    ...clients,
    ...rememberedBy(settings, { redis, log }, clients),
    settings,
    auditLog,
    executionTokens: await openExecutionTokens(settings),
    executions,
    pongs: new Pongs(clients.fleet),
    waiters,
    health,
    bus,
    schemas: new InputSchemas(),
    registrations: rateLimit(
      { name: 'register', rate: settings.workers.register_rate_limit, trustedProxies },
      redis,
    ),
    tokenTests: rateLimit({ name: 'test-token', rate: TOKEN_TESTS, trustedProxies }, redis),
    streams: new DispatcherStreams(settings.services.dispatcher_streams, serviceIdentity),
    openapi: openapi(routes),
  }
  const limits = {
    maxBytes: settings.server.max_body_bytes,
    maxDepth: settings.server.max_json_depth,
    maxUploadBytes: settings.catalog.max_workflow_upload_bytes,
  }
  const serving = { services, limits, log, requests: requestLog(log), open: new Set<Exchange>() }
  const http = await listen(routes, serving)
  teardown.add('http', () => http.stop())
  return { http: http.port }
}
