import path from 'node:path'
import { secret } from './data-dir.mjs'
import { settingsEnv } from './environment.mjs'
import { NATS_SERVICES } from './nats-config.mjs'
import { canBind, freePort } from './ports.mjs'
import { REDIS_SERVICES } from './redis-users.mjs'

/** The services that listen for gRPC, by the name under which the others find them. */
export const INNER = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler']
/** The services that people and their tools talk to. */
export const OUTER = ['gateway', 'mcp']

const MCP_PORT = 8080

/** Draws a port for everything that listens; the gateway has the one it was told. */
export async function drawPorts(gateway) {
  const ports = { gateway, mcp: (await usable(MCP_PORT, gateway)) ? MCP_PORT : await freePort() }
  for (const name of [...INNER, 'streams']) ports[name] = await freePort()
  return ports
}

function usable(port, taken) {
  return port !== taken && canBind(port)
}

/** The base URL under which this machine reaches a server that listens on this host. */
export function urlOf(host, port) {
  const reachable = ['0.0.0.0', '::', ''].includes(host) ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/**
 * The settings of one service process, as environment: those that it reads of what the user has set
 * there, and the addresses and passwords of its own.
 */
export function serviceEnv(service, { dir, infra, ports, settings }) {
  const local = (name) => `127.0.0.1:${ports[name]}`
  return {
    ...secretsUnlessSet(service, { dir, settings }),
    ...settingsEnv(service),
    ...(settings.security.auth.enabled && { SVC_SECURITY__AUTH__ENABLED: 'true' }),
    SVC_HOME: path.join(dir, 'home'),
    ...postgresEnv(service, infra),
    ...natsEnv(service, infra),
    ...redisEnv(service, infra),
    ...Object.fromEntries(
      INNER.map((name) => [`SVC_SERVICES__${name.toUpperCase()}`, local(name)]),
    ),
    SVC_SERVICES__DISPATCHER_STREAMS: `http://${local('streams')}`,
    SVC_LISTEN__HOST: '127.0.0.1',
    SVC_LISTEN__PORT: String(INNER.includes(service) ? ports[service] : 0),
    SVC_DISPATCHER__STREAM_PORT: String(ports.streams),
    SVC_SERVER__PORT: String(ports.gateway),
    SVC_MCP__PORT: String(ports.mcp),
    SVC_MCP__SERVER_URL: urlOf(settings.server.host, ports.gateway),
    SVC_MCP__TRANSPORT: 'streamable-http',
  }
}

/** Each service has a role of its own, and those without a schema have none; given ones are used as they are. */
function postgresEnv(service, { postgres }) {
  if (!INNER.includes(service)) return {}
  return { SVC_POSTGRES__URL: postgres.urlOf ? postgres.urlOf(service) : postgres.url }
}

/** Each service is a user of its own, and those that do not use NATS are none. */
function natsEnv(service, { nats }) {
  if (!NATS_SERVICES.includes(service)) return {}
  return { SVC_NATS__URL: nats.urlOf ? nats.urlOf(service) : nats.url }
}

/** The same at Redis. */
function redisEnv(service, { redis }) {
  if (!REDIS_SERVICES.includes(service)) return {}
  return { SVC_REDIS__URL: redis.urlOf ? redis.urlOf(service) : redis.url }
}

/** What migrations need beside that. */
export function migrationEnv({ infra: { postgres } }) {
  const admin = postgres.urlOf ? postgres.url : process.env.SVC_POSTGRES__ADMIN_URL
  return admin ? { SVC_POSTGRES__ADMIN_URL: admin } : {}
}

/** Services that sign or verify execution tokens. */
const USES_EXECUTION_TOKENS = ['executions', 'gateway']

/** Secrets that are not set are generated once and kept in the data directory; only services that use one get it. */
function secretsUnlessSet(service, { dir, settings: { security } }) {
  const env = {}
  if (USES_EXECUTION_TOKENS.includes(service) && security.execution_token_secret === undefined) {
    env.SVC_SECURITY__EXECUTION_TOKEN_SECRET = secret(dir, 'execution-token-secret', 32)
  }
  if (service === 'identity' && security.encryption.encryption_key === undefined) {
    env.SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY = secret(dir, 'encryption-key', 32)
  }
  return env
}
