import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { PROJECT, secret } from './data-dir.mjs'
import { canBind, freePort } from './ports.mjs'

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

/** The settings of one service process, as environment; what the user has set there stays. */
export function serviceEnv(service, { dir, infra, ports }) {
  const local = (name) => `127.0.0.1:${ports[name]}`
  return {
    ...secretsUnlessSet(service, dir),
    ...process.env,
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
    SVC_MCP__SERVER_URL: `http://${local('gateway')}`,
    SVC_MCP__TRANSPORT: 'streamable-http',
  }
}

/** Each service has a role of its own, and those without a schema have none; given ones are used as they are. */
function postgresEnv(service, { postgres }) {
  if (!postgres.urlOf) return { SVC_POSTGRES__URL: postgres.url }
  return INNER.includes(service) ? { SVC_POSTGRES__URL: postgres.urlOf(service) } : {}
}

/** Each service is a user of its own, and those that neither say nor hear anything are none. */
function natsEnv(service, { nats }) {
  if (!nats.urlOf) return { SVC_NATS__URL: nats.url }
  const url = nats.urlOf(service)
  return url ? { SVC_NATS__URL: url } : {}
}

/** The same at Redis. */
function redisEnv(service, { redis }) {
  const url = redis.urlOf ? redis.urlOf(service) : redis.url
  return url ? { SVC_REDIS__URL: url } : {}
}

/** What migrations need beside that. */
export function migrationEnv({ infra: { postgres } }) {
  return postgres.urlOf ? { SVC_POSTGRES__ADMIN_URL: postgres.url } : {}
}

/** Who makes the tokens of executions, and who checks them. */
const SIGNS_TOKENS = ['executions', 'gateway']

/**
 * Secrets are made here once and kept, except those that svc.toml gives. With authentication on they
 * must be given: the services name those that are missing and do not start. Made ones are known to
 * those alone who use them.
 */
function secretsUnlessSet(service, dir) {
  const file = path.resolve(PROJECT, process.env.SVC_CONFIG ?? 'svc.toml')
  const toml = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const given = (key) => new RegExp(`^\\s*${key}\\s*=`, 'm').test(toml)
  const env = {}
  if (authenticationIsOn(toml)) return env
  if (SIGNS_TOKENS.includes(service) && !given('execution_token_secret')) {
    env.SVC_SECURITY__EXECUTION_TOKEN_SECRET = secret(dir, 'execution-token-secret', 32)
  }
  if (service === 'identity' && !given('encryption_key')) {
    env.SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY = secret(dir, 'encryption-key', 32)
  }
  return env
}

function authenticationIsOn(toml) {
  const given = process.env.SVC_SECURITY__AUTH__ENABLED
  if (given !== undefined) return /^(true|1|yes|on|y|enabled)$/i.test(given)
  const [, table = ''] = /^\s*\[svc\.security\.auth\]([^[]*)/m.exec(toml) ?? []
  return /^\s*enabled\s*=\s*true\b/m.test(table)
}
