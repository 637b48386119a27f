import path from 'node:path'
import type { Settings } from '../../packages/runtime/src/config/settings.ts'
import { canBind, freePort } from '../process/ports.ts'
import { COMPILE_CACHE } from '../setup/compile-cache.ts'
import { secret } from '../setup/secrets.ts'
import { NATS_SERVICES } from '../stores/nats-config.ts'
import { REDIS_SERVICES } from '../stores/redis-users.ts'
import type { Infra } from '../stores/store.ts'
import { settingsEnv } from './environment.ts'

/** Services that listen for gRPC, by the name under which others find them. */
export const INNER = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler']
/** Services that clients connect to. */
export const OUTER = ['gateway', 'mcp']

/**
 * Port of each listener by the name of its service; `streams` is that of worker streams, `<service> admin`
 * that of probes and metrics.
 */
export type Ports = Record<string, number> & { gateway: number; mcp: number }

/** A system that is starting. */
export interface SystemContext {
  dir: string
  infra: Infra
  settings: Settings
  /** Address at which the gateway lets workers be killed; undefined: it cannot. */
  demoUrl?: string | undefined
}

/** Chooses a free port for every listener, for that of MCP the given one if it is free; that of the gateway is fixed. */
export async function drawPorts(gateway: number, mcp: number): Promise<Ports> {
  const ports: Ports = {
    gateway,
    mcp: mcp > 0 && (await usable(mcp, gateway)) ? mcp : await freePort(),
  }
  for (const name of [...INNER, 'streams', ...[...INNER, ...OUTER].map(adminOf)])
    ports[name] = await freePort()
  return ports
}

/** The name of a service's admin listener in `Ports`. */
export const adminOf = (service: string): string => `${service} admin`

async function usable(port: number, taken: number): Promise<boolean> {
  return port !== taken && (await canBind(port))
}

/** Returns the base URL under which this machine reaches a server that listens on this host. */
export function urlOf(host: string, port: number): string {
  const reachable = ['0.0.0.0', '::', ''].includes(host) ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/**
 * Returns the environment of one service process: the user's settings that it reads, and its own
 * addresses and passwords.
 */
export function serviceEnv(
  service: string,
  { dir, infra, ports, settings, demoUrl }: SystemContext & { ports: Ports },
): NodeJS.ProcessEnv {
  const local = (name: string) => `127.0.0.1:${ports[name]}`
  return {
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...secretsUnlessSet(service, { dir, settings }),
    ...settingsEnv(service),
    ...(settings.security.auth.enabled && { SVC_SECURITY__AUTH__ENABLED: 'true' }),
    ...(service === 'gateway' && { SVC_CONSOLE__DEMO_URL: demoUrl ?? '' }),
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
    SVC_ADMIN__HOST: '127.0.0.1',
    SVC_ADMIN__PORT: String(ports[adminOf(service)]),
    SVC_DISPATCHER__STREAM_PORT: String(ports.streams),
    SVC_SERVER__PORT: String(ports.gateway),
    SVC_MCP__PORT: String(ports.mcp),
    SVC_MCP__SERVER_URL: urlOf(settings.server.host, ports.gateway),
    SVC_MCP__TRANSPORT: 'streamable-http',
    // There is only one MCP server, so none of an earlier release.
    SVC_MCP__SESSION_IDS: 'true',
  }
}

/** Each service with a schema has its own role; a configured URL is used as it is. */
function postgresEnv(service: string, { postgres }: Infra): NodeJS.ProcessEnv {
  if (!INNER.includes(service)) return {}
  return { SVC_POSTGRES__URL: postgres.urlOf ? postgres.urlOf(service) : postgres.url }
}

/** Each service that uses NATS has its own user. */
function natsEnv(service: string, { nats }: Infra): NodeJS.ProcessEnv {
  if (!NATS_SERVICES.includes(service)) return {}
  return { SVC_NATS__URL: nats.urlOf ? nats.urlOf(service) : nats.url }
}

/** Each service that uses Redis has its own user. */
function redisEnv(service: string, { redis }: Infra): NodeJS.ProcessEnv {
  if (!REDIS_SERVICES.includes(service)) return {}
  return { SVC_REDIS__URL: redis.urlOf ? redis.urlOf(service) : redis.url }
}

/** Further variables for migrations. */
export function migrationEnv({ infra: { postgres } }: SystemContext): NodeJS.ProcessEnv {
  const admin = postgres.urlOf ? postgres.url : process.env.SVC_POSTGRES__ADMIN_URL
  return admin ? { SVC_POSTGRES__ADMIN_URL: admin } : {}
}

/** Services that sign or verify execution tokens. */
const USES_EXECUTION_TOKENS = ['executions', 'gateway']

/** Secrets that are not set are generated once and kept in the data directory; only services that use a secret get it. */
function secretsUnlessSet(
  service: string,
  { dir, settings: { security } }: Pick<SystemContext, 'dir' | 'settings'>,
): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {}
  if (USES_EXECUTION_TOKENS.includes(service) && security.execution_token_secret === undefined) {
    env.SVC_SECURITY__EXECUTION_TOKEN_SECRET = secret(dir, 'execution-token-secret', 32)
  }
  if (service === 'identity' && security.encryption.encryption_key === undefined) {
    env.SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY = secret(dir, 'encryption-key', 32)
  }
  return env
}
