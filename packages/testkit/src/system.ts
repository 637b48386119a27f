import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startBalancer } from './balancer.ts'
import { emptyDatabase, freshSystemDatabase, migrateAll } from './database.ts'
import { type Defer, withTest } from './defer.ts'
import { temporaryFolder } from './folder.ts'
import type { Infra } from './infra-handle.ts'
import type { LossyLink } from './lossy-link.ts'
import { Process } from './process.ts'
import { createProcesses, inOneProcess, ROOT, type Service } from './system-processes.ts'

export interface SystemOptions {
  /** Built checkout whose programs and migrations are used, such as one of an earlier release. */
  root?: URL
  /** Replicas of each service; one by default. */
  replicas?: Partial<Record<Service, number>>
  env?: Record<string, string>
  /** Settings of a single replica, counted from 0. */
  envOf?: (service: Service, i: number) => Record<string, string>
  /**
   * True: all services in one process, as `npm start -- --single-process` runs them, which starts with a third of
   * the processor time; only further replicas have processes of their own. For tests that kill or stop none.
   */
  singleProcess?: boolean
  /** Python workers to start. */
  workers?: number
  /** Registers the teardown; at the end of the test by default. */
  defer?: Defer
  /** Services that are called over links which can lose responses. */
  linked?: readonly Service[]
  /** Private stores, for tests that break them; by default those of the run. */
  infra?: Partial<Infra['urls']>
  /** URLs of PostgreSQL servers to which services go when that of `infra` does not accept writes. */
  standbys?: readonly string[]
  /** Receives all output of services and workers. */
  onOutput?: (text: string) => void
}

export type System = Awaited<ReturnType<typeof startSystem>>

/**
 * Settings for tests whose workers must not be evicted: a gateway or test process that does not run for a second
 * passes no pongs on.
 */
export const TOLERANT_HEARTBEATS = { SVC_WORKERS__HEARTBEAT_TIMEOUT: '60' }

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
  const { envOf = () => ({}), linked = [], infra = {}, standbys = [], onOutput } = options
  const home = temporaryFolder('home', defer)
  // A server with a standby is removed as a whole, and may be down then.
  const drop = standbys.length > 0 ? () => {} : defer
  const database = await databaseOf(root, drop, infra.TEST_POSTGRES_URL)
  const links = new Map<Service, LossyLink[]>()
  defer(() => [...links.values()].flat().forEach((link) => void link.stop()))
  const layout = { root, home, database, linked, links, infra, standbys }
  const create = async () => {
    const separate = await createProcesses({ replicas, envOf }, { ...FAST, ...env }, layout)
    const created = options.singleProcess ? inOneProcess(separate, root) : separate
    for (const { program } of [...created.values()].flat()) program.onOutput = onOutput
    return created
  }
  const processes = await startAll(create, (all) => defer(() => endAll(all)))

  const gateways = (processes.get('gateway') ?? []).map((one) => portOf(one, 'gateway'))
  const balancer = await startBalancer(gateways)
  defer(() => balancer.stop())
  const url = `http://127.0.0.1:${balancer.port}`
  const system = {
    url,
    gateways: gateways.map((port) => `http://127.0.0.1:${port}`),
    mcpUrl: `http://127.0.0.1:${portOf(processes.get('mcp')?.[0] as Process, 'mcp')}/mcp`,
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

/** A private server has one system: a template would cost more than it saves. */
async function databaseOf(root: URL, defer: Defer, at: string | undefined): Promise<string> {
  if (at === undefined) return freshSystemDatabase(root, defer)
  const database = await emptyDatabase(defer, at)
  await migrateAll(database, root)
  return database
}

const ATTEMPTS = 3

const endAll = (all: readonly Process[]) => Promise.all(all.map((one) => one.end()))

/** Starts all processes that `create` returns; again with other ports if one is in use. */
async function startAll(
  create: () => Promise<Map<Service, Process[]>>,
  keep: (all: readonly Process[]) => void,
): Promise<Map<Service, Process[]>> {
  for (let attempt = 1; ; attempt++) {
    const processes = await create()
    const all = [...new Set([...processes.values()].flat())]
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

const portOf = ({ program: { env } }: Process, service: 'gateway' | 'mcp') =>
  Number(service === 'mcp' ? env.SVC_MCP__PORT : env.SVC_SERVER__PORT)

export interface WorkerOptions {
  name?: string
  /** Program of the environment with the SDK; that of the tests by default. */
  python?: string
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
  { name, args = [], python = process.env.TEST_PYTHON ?? 'python3' }: WorkerOptions,
) {
  const named = name ? ['--name', name] : []
  const worker = new Process({
    name: name ?? 'worker',
    command: python,
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
