import { startInfra } from './infra.mjs'
import { canBind } from './ports.mjs'
import { ensurePython } from './python.mjs'
import { migrate, startServices, startWorkers } from './system.mjs'
import { build, checkNode, installPackages } from './toolchain.mjs'

const WORKER_LIMIT_MS = 30_000
const REQUEST_LIMIT_MS = 5_000

/** Installs and builds what the system is made of; returns the python that has the SDK. */
export async function prepareTools(context) {
  checkNode()
  await installPackages(context)
  await build(context)
  return ensurePython(context)
}

/** Starts the infrastructure, the services and the workers, each when what it needs is ready. */
export async function bringUp(context, { port, workers }) {
  if (port !== 0 && !(await canBind(port))) {
    throw new Error(`Port ${port} is taken by another program. Try:  npm start -- --port N`)
  }
  const { processes, progress } = context
  await processes.recover()
  const infra = await startInfra(context)
  await migrate({ ...context, infra })
  const { children, ports } = await progress.step('Starting the services', () =>
    startServices({ ...context, infra }, port),
  )
  const url = `http://127.0.0.1:${ports.gateway}`
  const started = startWorkers(context, { count: workers, url })
  await progress.step(`Starting ${workers} Python worker${workers === 1 ? '' : 's'}`, () =>
    Promise.all(started.map((worker) => untilOnline(processes, worker, { url, workers }))),
  )
  const servers = Object.values(infra).map((server) => server.child)
  return {
    url,
    mcpUrl: `http://127.0.0.1:${ports.mcp}/mcp`,
    children: [...servers, ...children, ...started],
  }
}

/** The workers have names of their own, so what counts is how many are online. */
function untilOnline(processes, worker, { url, workers }) {
  const online = async () => {
    const response = await fetch(`${url}/workers`, {
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    })
    if (response.status === 401) return true // authentication is on, and this is not ours to see
    const known = await response.json()
    return known.filter(({ status }) => status === 'online').length >= workers
  }
  return processes.untilReady(worker, online, WORKER_LIMIT_MS)
}
