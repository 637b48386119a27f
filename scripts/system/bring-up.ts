import type { Settings } from '../../packages/runtime/src/config/settings.ts'
import { written } from '../process/logs.ts'
import { canBind } from '../process/ports.ts'
import type { Child, Processes } from '../process/processes.ts'
import { build } from '../setup/build.ts'
import { ensureServiceNode } from '../setup/node.ts'
import { ensurePrograms } from '../setup/packages.ts'
import type { Progress } from '../setup/progress.ts'
import { ensureWorkerPython, neededForPython } from '../setup/python.ts'
import { neededForInfra, startInfra } from '../stores/infra.ts'
import type { Infra } from '../stores/store.ts'
import { openDemoControl } from './demo-control.ts'
import type { StartOptions } from './options.ts'
import { readSettings } from './settings.ts'
import { migrate, startServices, startWorkers } from './system.ts'
import { type Ports, urlOf } from './topology.ts'
import { workerUser } from './worker-user.ts'

const WORKER_LIMIT_MS = 30_000
const REQUEST_LIMIT_MS = 5_000

export interface StartContext {
  dir: string
  progress: Progress
  processes: Processes
}

/** The addresses and parts of a system that is up. */
export interface RunningSystem {
  url: string
  mcpUrl: string
  infra: Infra
  settings: Settings
  /** Number of Python workers. */
  workers: number
  /** True if each worker has a user of its own. */
  isolated: boolean
  children: Child[]
  ports: Ports
  /** The Node that runs the services. */
  node: string
}

/**
 * Starts the whole system in a data directory: installs what is missing, then starts stores, services
 * and workers, each when its dependencies are ready.
 */
export async function bringUp(
  context: StartContext,
  options: Pick<StartOptions, 'port' | 'workers'> & Partial<StartOptions>,
): Promise<RunningSystem> {
  const { port, auth = false, workerVariables: variables = [], singleProcess = false } = options
  if (port !== 0 && !(await canBind(port))) {
    throw new Error(`Port ${port} is taken by another program. Try:  npm start -- --port N`)
  }
  const { processes, progress } = context
  const runsWorkers = options.workers !== 0 && (options.workers !== undefined || !auth)
  const forWorkers = runsWorkers ? neededForPython(context.dir) : []
  await ensurePrograms(progress, [...neededForInfra(), ...forWorkers])
  await processes.recover()
  const infraStarting = startInfra({ ...context, prefixes: [process.env.SVC_NATS__PREFIX ?? ''] })
  const settingsReading = build(context).then(() => readSettings({ auth }))
  // Made while the programs are built; not needed if the settings turn authentication on.
  const pythonMaking = runsWorkers ? ensureWorkerPython(context, workerUser(context.dir)) : ''
  const [infra, settings, python, node] = await Promise.all([
    infraStarting,
    settingsReading,
    pythonMaking,
    ensureServiceNode(progress),
  ])
  const workers = workerCount(options, settings)
  const hasDemo = options.demo && workers > 0 && !settings.security.auth.enabled
  const demoUrl = hasDemo ? await openDemoControl(processes) : undefined
  const system = { ...context, infra, settings, demoUrl, node }
  await migrate(system)
  const { children, ports } = await progress.step('Starting the services', () =>
    startServices(system, port, { singleProcess }),
  )
  const url = urlOf(settings.server.host, ports.gateway)
  const started = await startWorkers({ ...system, python }, { count: workers, url, variables })
  if (workers > 0)
    await progress.step(`Starting ${workers} Python worker${workers === 1 ? '' : 's'}`, () =>
      Promise.all(
        started.workers.map((worker) => untilOnline(processes, worker, { url, workers })),
      ),
    )
  const servers = Object.values(infra).flatMap(({ child }) => child ?? [])
  return {
    url,
    infra,
    settings,
    node,
    workers,
    isolated: started.isolated,
    mcpUrl: `${urlOf(settings.mcp.host, ports.mcp)}/mcp`,
    children: [...servers, ...children, ...started.workers],
    ports,
  }
}

/** With authentication on, workers are started only on request, since they run uploaded code. */
function workerCount({ workers }: Pick<StartOptions, 'workers'>, { security }: Settings): number {
  return workers ?? (security.auth.enabled ? 0 : 1)
}

/** Waits for the number of online workers, since their names are not known. */
function untilOnline(
  processes: Processes,
  worker: Child,
  { url, workers }: { url: string; workers: number },
): Promise<void> {
  const online = async () => {
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS)
    const response = await fetch(`${url}/workers`, { signal })
    if (response.status === 401) return true // authentication is on: the list cannot be read without a key
    const known = (await response.json()) as { status: string }[]
    return known.filter(({ status }) => status === 'online').length >= workers
  }
  // A worker that connected and then died counts as started; it is restarted like any other.
  const wasThere = () => / connected /.test(written(worker))
  return processes.untilReady(worker, async () => wasThere() || online(), WORKER_LIMIT_MS)
}
