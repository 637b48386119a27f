import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { keysOf } from '@windlass/rpc/pair-keys'
import { serviceUrl, storeUrl, testUrl } from './database.ts'
import type { Infra } from './infra-handle.ts'
import { LossyLink } from './lossy-link.ts'
import { freePort } from './ports.ts'
import { Process } from './process.ts'
import { withHosts } from './replicated-postgres.ts'

export const ROOT = new URL('../../../', import.meta.url)

export const SERVICES = [
  'identity',
  'catalog',
  'executions',
  'dispatcher',
  'scheduler',
  'gateway',
  'mcp',
] as const
export type Service = (typeof SERVICES)[number]

/** Returns the program of a service in a checkout. */
export const programOf = (service: Service, root = ROOT) =>
  fileURLToPath(new URL(`services/${service}/dist/main.js`, root))

interface ReplicaOptions {
  replicas: Partial<Record<Service, number>>
  envOf: (service: Service, i: number) => Record<string, string>
}

interface Layout {
  root: URL
  home: string
  database: string
  linked: readonly Service[]
  /** Filled by createProcesses. */
  links: Map<Service, LossyLink[]>
  infra: Partial<Infra['urls']>
  standbys: readonly string[]
}

/** Creates the processes of a system, without starting them. */
export async function createProcesses(
  { replicas, envOf }: ReplicaOptions,
  env: Record<string, string>,
  { root, home, database, linked, links, infra, standbys }: Layout,
): Promise<Map<Service, Process[]>> {
  const ports = new Map<Service, number[]>()
  for (const service of SERVICES) ports.set(service, await freePorts(replicas[service] ?? 1))
  const streams = await freePorts(replicas.dispatcher ?? 1)
  for (const service of linked) {
    for (const link of links.get(service) ?? []) link.stop()
    links.set(service, await Promise.all((ports.get(service) ?? []).map(LossyLink.to)))
  }
  const addresses = (service: Service) =>
    (links.get(service)?.map(({ port }) => port) ?? ports.get(service) ?? [])
      .map((port) => `127.0.0.1:${port}`)
      .join(',')
  const secret = randomBytes(32).toString('hex')
  const common = {
    // As `npm start` and the image start them.
    NODE_COMPILE_CACHE: fileURLToPath(new URL('dist/compile-cache', root)),
    SVC_CONFIG: '/dev/null',
    SVC_HOME: home,
    SVC_NATS__PREFIX: `test-${randomBytes(4).toString('hex')}`,
    ...Object.fromEntries(
      SERVICES.slice(0, 5).map((service) => [
        `SVC_SERVICES__${service.toUpperCase()}`,
        addresses(service),
      ]),
    ),
    SVC_SERVICES__DISPATCHER_STREAMS: streams
      .map((port) => `${env.SVC_RPC__TLS_CERT ? 'https' : 'http'}://127.0.0.1:${port}`)
      .join(','),
    SVC_MCP__SERVER_URL: `http://${addresses('gateway').split(',')[0]}`,
    ...env,
  }
  const own = (service: Service, i: number, port: number): Record<string, string> => {
    if (service === 'gateway') return { SVC_SERVER__PORT: String(port) }
    if (service === 'mcp') return { SVC_MCP__PORT: String(port) }
    const stream: Record<string, string> =
      service === 'dispatcher' ? { SVC_DISPATCHER__STREAM_PORT: String(streams[i]) } : {}
    return { SVC_LISTEN__PORT: String(port), ...stream }
  }
  const processes = SERVICES.map((service): [Service, Process[]] => [
    service,
    (ports.get(service) ?? []).map(
      (port, i) =>
        new Process({
          name: `${service}-${i + 1}`,
          command: process.execPath,
          args: [programOf(service, root)],
          env: {
            SVC_POSTGRES__URL: postgresUrl(serviceUrl(database, service), standbys),
            SVC_NATS__URL: storeUrl(infra.TEST_NATS_URL ?? testUrl('TEST_NATS_URL'), service),
            SVC_REDIS__URL: storeUrl(infra.TEST_REDIS_URL ?? testUrl('TEST_REDIS_URL'), service),
            SVC_RPC__KEYS: keysOf(secret, service).join(','),
            ...common,
            ...own(service, i, port),
            ...envOf(service, i),
          },
          ready: /"msg":"started"/,
        }),
    ),
  ])
  return new Map(processes)
}

const postgresUrl = (url: string, standbys: readonly string[]) =>
  standbys.length === 0 ? url : withHosts(url, standbys)

const freePorts = (count: number) => Promise.all(Array.from({ length: count }, () => freePort()))

/**
 * The first replica of each service in one process, as `npm start -- --single-process` starts them; further
 * replicas keep processes of their own.
 */
export function inOneProcess(
  separate: ReadonlyMap<Service, Process[]>,
  root: URL,
): Map<Service, Process[]> {
  const environments = Object.fromEntries(
    [...separate].map(([service, [one]]) => [service, one?.program.env ?? {}]),
  )
  const { SVC_SERVER__PORT = '' } = environments.gateway ?? {}
  const { SVC_MCP__PORT = '' } = environments.mcp ?? {}
  const services = new Process({
    name: 'services',
    command: process.execPath,
    args: [fileURLToPath(new URL('dist/services/all/main.js', root))],
    env: { SVC_SERVER__PORT, SVC_MCP__PORT },
    input: JSON.stringify(environments),
    ready: /"msg":"started"/,
  })
  return new Map([...separate].map(([service, [, ...more]]) => [service, [services, ...more]]))
}
