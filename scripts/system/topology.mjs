import path from 'node:path'
import { canBind, freePort } from '../process/ports.mjs'
import { secret } from '../setup/data-dir.mjs'
import { NATS_SERVICES } from '../stores/nats-config.mjs'
import { REDIS_SERVICES } from '../stores/redis-users.mjs'
import { settingsEnv } from './environment.mjs'

/** Services that listen for gRPC, by the name under which others find them. */
export const INNER = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler']
/** Services that clients connect to. */
export const OUTER = ['gateway', 'mcp']

const MCP_PORT = 8080

/** Chooses a free port for every listener except the gateway, whose port is given. */
export async function drawPorts(gateway) {
  const ports = { gateway, mcp: (await usable(MCP_PORT, gateway)) ? MCP_PORT : await freePort() }
  for (const name of [...INNER, 'streams']) ports[name] = await freePort()
  return ports
}

function usable(port, taken) {
  return port !== taken && canBind(port)
}

/** Returns the base URL under which this machine reaches a server that listens on this host. */
export function urlOf(host, port) {
  const reachable = ['0.0.0.0', '::', ''].includes(host) ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/**
 * Returns the environment of one service process: the user's settings that it reads, and its own
 * addresses and passwords.
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

/** Each service with a schema has its own role; a configured URL is used as it is. */
function postgresEnv(service, { postgres }) {
  if (!INNER.includes(service)) return {}
  return { SVC_POSTGRES__URL: postgres.urlOf ? postgres.urlOf(service) : postgres.url }
}

/** Each service that uses NATS has its own user. */
function natsEnv(service, { nats }) {
  if (!NATS_SERVICES.includes(service)) return {}
  return { SVC_NATS__URL: nats.urlOf ? nats.urlOf(service) : nats.url }
}

/** Each service that uses Redis has its own user. */
function redisEnv(service, { redis }) {
  if (!REDIS_SERVICES.includes(service)) return {}
  return { SVC_REDIS__URL: redis.urlOf ? redis.urlOf(service) : redis.url }
}

/** Further variables for migrations. */
export function migrationEnv({ infra: { postgres } }) {
  const admin = postgres.urlOf ? postgres.url : process.env.SVC_POSTGRES__ADMIN_URL
  return admin ? { SVC_POSTGRES__ADMIN_URL: admin } : {}
}

/** Services that sign or verify execution tokens. */
const USES_EXECUTION_TOKENS = ['executions', 'gateway']

/** Secrets that are not set are generated once and kept in the data directory; only services that use a secret get it. */
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
