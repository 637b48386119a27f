import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { keysOf } from '@windlass/rpc/pair-keys'
import { migrate } from '@windlass/runtime/postgres/migrate'
import { startBalancer } from './balancer.ts'
import { emptyDatabase, serviceUrl, storeUrl, testUrl } from './database.ts'
import { type Defer, withTest } from './defer.ts'
import { temporaryFolder } from './folder.ts'
import type { Infra } from './infra-handle.ts'
import { LossyLink } from './lossy-link.ts'
import { freePort } from './ports.ts'
import { Process } from './process.ts'

const SERVICES = [
  'identity',
  'catalog',
  'executions',
  'dispatcher',
  'scheduler',
  'gateway',
  'mcp',
] as const
export type Service = (typeof SERVICES)[number]

const STORES = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler']
const ROOT = new URL('../../../', import.meta.url)

export interface SystemOptions {
  /** Built checkout whose programs and migrations are used, such as one of an earlier release. */
  root?: URL
  /** Replicas of each service; one by default. */
  replicas?: Partial<Record<Service, number>>
  env?: Record<string, string>
  /** Settings of a single replica, counted from 0. */
  envOf?: (service: Service, i: number) => Record<string, string>
  /** Python workers to start. */
  workers?: number
  /** Registers the teardown; at the end of the test by default. */
  defer?: Defer
  /** Services that are called over links which can lose responses. */
  linked?: readonly Service[]
  /** Private stores, for tests that break them; by default those of the run. */
  infra?: Partial<Infra['urls']>
  /** Receives all output of services and workers. */
  onOutput?: (text: string) => void
}

export type System = Awaited<ReturnType<typeof startSystem>>

/** Heartbeats for an eviction about a second after the last pong. */
const FAST = {
  SVC_WORKERS__HEARTBEAT_INTERVAL: '0.2',
  SVC_WORKERS__HEARTBEAT_TIMEOUT: '0.8',
  SVC_WORKERS__EVICTION_GRACE_PERIOD: '0.4',
  SVC_WORKERS__REGISTER_RATE_LIMIT: '',
}

/**
 * Starts the whole system as users run it: every service as a process from `dist/`, real Python workers,
 * its own database, and one address for all gateways. `defer` decides when it stops.
 */
export async function startSystem(options: SystemOptions = {}) {
  const { replicas = {}, env = {}, workers = 1, defer = withTest, root = ROOT } = options
  const { envOf = () => ({}), linked = [], infra = {}, onOutput } = options
  const home = temporaryFolder('home', defer)
  const database = await emptyDatabase(defer, infra.TEST_POSTGRES_URL)
  await migrateAll(database, root)
  const links = new Map<Service, LossyLink[]>()
  defer(() => [...links.values()].flat().forEach((link) => void link.stop()))
  const layout = { root, home, database, linked, links, infra }
  const create = async () => {
    const created = await createProcesses({ replicas, envOf }, { ...FAST, ...env }, layout)
    for (const { program } of [...created.values()].flat()) program.onOutput = onOutput
    return created
  }
  const processes = await startAll(create, (all) => defer(() => endAll(all)))

  const gateways = (processes.get('gateway') ?? []).map(portOf)
  const balancer = await startBalancer(gateways)
  defer(() => balancer.stop())
  const url = `http://127.0.0.1:${balancer.port}`
  const system = {
    url,
    gateways: gateways.map((port) => `http://127.0.0.1:${port}`),
    mcpUrl: `http://127.0.0.1:${portOf(processes.get('mcp')?.[0] as Process)}/mcp`,
    home,
    database,
    of: (service: Service) => processes.get(service) ?? [],
    /** The links of a service in `linked`, one for each replica. */
    linksTo: (service: Service) => links.get(service) ?? [],
    bootstrapToken: async () => (await readFile(join(home, 'bootstrap-token'), 'utf8')).trim(),
    startWorker: (worker: WorkerOptions = {}) =>
      startWorker({ url, home, defer, onOutput }, worker),
  }
  await Promise.all(Array.from({ length: workers }, () => system.startWorker()))
  return system
}

/** Brings the schemas of all services to those of a checkout. */
export async function migrateAll(database: string, root = ROOT): Promise<void> {
  for (const store of STORES) {
    const migrations = new URL(`services/${store}/migrations/`, root)
    await migrate(database, store, migrations, serviceUrl(database, store))
  }
}

/** Returns the program of a service in a checkout. */
export const programOf = (service: Service, root = ROOT) =>
  fileURLToPath(new URL(`services/${service}/dist/main.js`, root))

const ATTEMPTS = 3

const endAll = (all: readonly Process[]) => Promise.all(all.map((one) => one.end()))

/** Starts all processes that `create` returns; again with other ports if one is in use. */
async function startAll(
  create: () => Promise<Map<Service, Process[]>>,
  keep: (all: readonly Process[]) => void,
): Promise<Map<Service, Process[]>> {
  for (let attempt = 1; ; attempt++) {
    const processes = await create()
    const all = [...processes.values()].flat()
    const results = await Promise.allSettled(all.map((one) => one.start()))
    const failed = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    if (failed.length === 0) {
      keep(all)
      return processes
    }
    await endAll(all)
    if (attempt === ATTEMPTS || !failed.every((error) => /EADDRINUSE/.test(String(error))))
      throw failed[0]
  }
}

const portOf = ({ program: { env } }: Process) => Number(env.SVC_SERVER__PORT ?? env.SVC_MCP__PORT)

interface Layout {
  root: URL
  home: string
  database: string
  linked: readonly Service[]
  /** Filled by createProcesses. */
  links: Map<Service, LossyLink[]>
  infra: Partial<Infra['urls']>
}

async function createProcesses(
  { replicas, envOf }: Required<Pick<SystemOptions, 'replicas' | 'envOf'>>,
  env: Record<string, string>,
  { root, home, database, linked, links, infra }: Layout,
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
            SVC_POSTGRES__URL: serviceUrl(database, service),
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

const freePorts = (count: number) => Promise.all(Array.from({ length: count }, () => freePort()))

export interface WorkerOptions {
  name?: string
  args?: string[]
}

interface WorkerContext {
  onOutput: ((text: string) => void) | undefined
  url: string
  home: string
  defer: Defer
}

/** Starts a Python worker; ready when its stream is open. */
async function startWorker(
  { url, home, defer, onOutput }: WorkerContext,
  { name, args = [] }: WorkerOptions,
) {
  const named = name ? ['--name', name] : []
  const worker = new Process({
    name: name ?? 'worker',
    command: process.env.TEST_PYTHON ?? 'python3',
    args: [
      ...['-m', 'windlass.worker', 'start', '--server-url', url],
      ...['--bootstrap-token-file', join(home, 'bootstrap-token'), ...named, ...args],
    ],
    env: { PYTHONUNBUFFERED: '1' },
    ready: /connected/,
    onOutput: onOutput,
  })
  defer(() => worker.end('SIGKILL'))
  await worker.start()
  return worker
}
