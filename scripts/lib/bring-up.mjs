import { startInfra } from './infra.mjs'
import { written } from './logs.mjs'
import { canBind } from './ports.mjs'
import { ensureWorkerPython } from './python.mjs'
import { readSettings } from './settings.mjs'
import { migrate, startServices, startWorkers } from './system.mjs'
import { build, checkNode, installPackages } from './toolchain.mjs'
import { urlOf } from './topology.mjs'
import { workerUser } from './worker-user.mjs'

const WORKER_LIMIT_MS = 30_000
const REQUEST_LIMIT_MS = 5_000

/**
 * Brings up the whole system in a data directory: sets up what is missing, then starts the
 * infrastructure, the services and the workers, each when what it needs is ready.
 */
export async function bringUp(context, options) {
  checkNode()
  const { port, auth, workerVariables: variables } = options
  if (port !== 0 && !(await canBind(port))) {
    throw new Error(`Port ${port} is taken by another program. Try:  npm start -- --port N`)
  }
  const { processes, progress } = context
  await processes.recover()
  const infraStarting = startInfra({ ...context, prefixes: [process.env.SVC_NATS__PREFIX ?? ''] })
  const settingsReading = installPackages(context)
    .then(() => build(context))
    .then(() => readSettings({ auth }))
  const workersSettling = settingsReading.then(async (settings) => {
    const count = workerCount(options, settings)
    return {
      count,
      python: count > 0 && (await ensureWorkerPython(context, workerUser(context.dir))),
    }
  })
  const [infra, settings, { count: workers, python }] = await Promise.all([
    infraStarting,
    settingsReading,
    workersSettling,
  ])
  const system = { ...context, infra, settings }
  await migrate(system)
  const { children, ports } = await progress.step('Starting the services', () =>
    startServices(system, port),
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
    workers,
    isolated: started.isolated,
    mcpUrl: `${urlOf(settings.mcp.host, ports.mcp)}/mcp`,
    children: [...servers, ...children, ...started.workers],
    ports,
  }
}

/** With authentication on, uploaded code runs next to the server only where that was asked for. */
function workerCount({ workers }, { security }) {
  return workers ?? (security.auth.enabled ? 0 : 1)
}

/** The workers have names of their own, so what counts is how many are online. */
function untilOnline(processes, worker, { url, workers }) {
  const online = async () => {
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS)
    const response = await fetch(`${url}/workers`, { signal })
    if (response.status === 401) return true // authentication is on, and this is not ours to see
    const known = await response.json()
    return known.filter(({ status }) => status === 'online').length >= workers
  }
  // One that was connected and died has shown that it can; it is started again like any other.
  const wasThere = () => / connected /.test(written(worker))
  return processes.untilReady(worker, async () => wasThere() || online(), WORKER_LIMIT_MS)
}
