import { chmodSync, existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Settings } from '../../packages/runtime/src/config/settings.ts'
import { PROJECT, prepare } from '../bootstrap/data-dir.mjs'
import { written } from '../process/logs.ts'
import { freePort, saysPortTaken } from '../process/ports.ts'
import type { Child, Processes } from '../process/processes.ts'
import { COMPILE_CACHE } from '../setup/compile-cache.ts'
import type { Progress } from '../setup/progress.ts'
import { run } from '../setup/run.ts'
import { generalEnv } from './environment.ts'
import { rpcEnv } from './settings.ts'
import {
  drawPorts,
  INNER,
  migrationEnv,
  OUTER,
  type Ports,
  type SystemContext,
  serviceEnv,
} from './topology.ts'
import { type WorkerPlace, workerPlaces } from './worker-user.ts'

const READY_LIMIT_MS = 30_000
const DRAWS_MAX = 5
const DRAIN_S = 3
const ALL_IN_ONE = 'dist/services/all/main.js'
const STARTED = /"msg":"started"/

// the highest tier is stopped first; PostgreSQL, NATS and Redis have none
const TIER = { inner: 1, outer: 2, worker: 3 }

/** A system whose stores run. */
export interface StartingSystem extends SystemContext {
  processes: Processes
  progress: Progress
  /** The Node that runs the services. */
  node: string
}

/** Migrates the databases of the services. */
export async function migrate(context: StartingSystem): Promise<void> {
  const { node, progress, settings } = context
  const ports = await drawPorts(0, settings.mcp.port)
  await progress.step('Migrating databases', () =>
    Promise.all(
      INNER.filter((service) => existsSync(script(service, 'migrate'))).map((service) =>
        run(node, [script(service, 'migrate')], {
          cwd: PROJECT,
          env: { ...serviceEnv(service, { ...context, ports }), ...migrationEnv(context) },
        }),
      ),
    ),
  )
}

/** Starts all services and returns them with their ports when each has reported ready. */
export async function startServices(
  context: StartingSystem,
  gatewayPort: number,
  { singleProcess = false } = {},
): Promise<{ children: Child[]; ports: Ports }> {
  chmodSync(prepare(path.join(context.dir, 'home')), 0o700)
  for (let draw = 1; ; draw++) {
    const ports = await drawPorts(gatewayPort || (await freePort()), context.settings.mcp.port)
    const children = await startProcesses({ ...context, ports }, singleProcess)
    try {
      await Promise.all(children.map((child) => untilStarted(context.processes, child)))
      return { children, ports }
    } catch (error) {
      await Promise.all(children.map((child) => context.processes.stop(child)))
      if (!saysPortTaken(error) || draw === DRAWS_MAX) throw error
    }
  }
}

async function startProcesses(
  context: StartingSystem & { ports: Ports },
  singleProcess: boolean,
): Promise<Child[]> {
  if (singleProcess) return [await startAllInOne(context)]
  return Promise.all([...INNER, ...OUTER].map((name) => startService(name, context)))
}

/** Starts all services in one process, each with the environment of a process of its own. */
async function startAllInOne(context: StartingSystem & { ports: Ports }): Promise<Child> {
  const environments = await Promise.all(
    [...INNER, ...OUTER].map(async (service) => [service, await envOf(service, context)] as const),
  )
  const { SVC_LOG_LEVEL } = process.env
  return context.processes.start({
    name: 'services',
    command: context.node,
    args: [path.join(PROJECT, ALL_IN_ONE)],
    env: {
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...generalEnv(),
      ...(SVC_LOG_LEVEL && { SVC_LOG_LEVEL }),
    },
    input: () => JSON.stringify(Object.fromEntries(environments)),
    cwd: PROJECT,
    tier: TIER.outer,
  })
}

/** Starts another replica of a service at a port of its own choice: for services that no other one calls. */
export async function startReplica(
  service: string,
  name: string,
  context: StartingSystem & { ports: Ports },
): Promise<Child> {
  const child = await startService(service, context, {
    name,
    SVC_LISTEN__PORT: '0',
    SVC_ADMIN__PORT: '0',
  })
  await untilStarted(context.processes, child)
  return child
}

async function startService(
  service: string,
  context: StartingSystem & { ports: Ports },
  { name = service, ...more }: NodeJS.ProcessEnv & { name?: string } = {},
): Promise<Child> {
  const env = { ...(await envOf(service, context)), ...more }
  return context.processes.start({
    name,
    command: context.node,
    args: [script(service, 'main')],
    env,
    cwd: PROJECT,
    tier: INNER.includes(service) ? TIER.inner : TIER.outer,
  })
}

/** The environment of one service. */
async function envOf(
  service: string,
  context: SystemContext & { ports: Ports },
): Promise<NodeJS.ProcessEnv> {
  return { ...serviceEnv(service, context), ...(await rpcEnv(service, context.dir)) }
}

interface WorkersOptions {
  count: number
  /** Base URL of the gateway. */
  url: string
  /** Names of variables that the user passes to the workers. */
  variables: string[]
}

/**
 * Starts Python workers, which retry until the gateway accepts them. They get the bootstrap token
 * over a pipe: environment, command line and files can be read by the code that they run. `isolated`
 * of the answer says if they run under users of their own.
 */
export async function startWorkers(
  context: StartingSystem & { python: string },
  { count, url, variables }: WorkersOptions,
): Promise<{ workers: Child[]; isolated: boolean }> {
  if (count === 0) return { workers: [], isolated: true }
  const { dir, processes, python, settings } = context
  const names = Array.from({ length: count }, (_, index) => `worker-${index + 1}`)
  const { places, isolated } = await workerPlaces({ dir, python, names, variables })
  // The address may be one beyond loopback; packets to an address of this machine do not leave it.
  const args = ['-P', '-m', 'windlass.worker', 'start', '--server-url', url, '--insecure']
  // Its executions then return to the queue before the services stop.
  const drain = ['--drain-timeout', String(DRAIN_S)]
  const passed = variables.flatMap((variable) => ['--pass-env', variable])
  const workers = names.map((name, index) => {
    const { user, ...place } = places[index] as WorkerPlace
    return processes.start({
      name,
      command: python,
      args: [...args, ...drain, ...passed, '--bootstrap-token-fd', '3'],
      ...place,
      ...(user && { user }),
      input: () => bootstrapToken(dir, settings),
      tier: TIER.worker,
      expendable: true,
    })
  })
  return { workers, isolated }
}

/** Returns the configured token, or the one that identity generated at its first start. */
function bootstrapToken(dir: string, { workers }: Settings): string {
  return (
    workers.bootstrap_token?.trim() || readFileSync(path.join(dir, 'home/bootstrap-token'), 'utf8')
  )
}

function untilStarted(processes: Processes, child: Child): Promise<void> {
  return processes.untilReady(child, () => STARTED.test(written(child)), READY_LIMIT_MS)
}

function script(service: string, name: string): string {
  return path.join(PROJECT, 'services', service, 'dist', `${name}.js`)
}
