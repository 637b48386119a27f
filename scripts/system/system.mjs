import { chmodSync, existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { written } from '../process/logs.mjs'
import { freePort, saysPortTaken } from '../process/ports.mjs'
import { PROJECT, prepare } from '../setup/data-dir.mjs'
import { run } from '../setup/run.mjs'
import { rpcEnv } from './settings.mjs'
import { drawPorts, INNER, migrationEnv, OUTER, serviceEnv } from './topology.mjs'
import { workerPlaces } from './worker-user.mjs'

const READY_LIMIT_MS = 30_000
const DRAWS_MAX = 5
const DRAIN_S = 3
const STARTED = /"msg":"started"/

// the highest tier is stopped first; PostgreSQL, NATS and Redis have none
const TIER = { inner: 1, outer: 2, worker: 3 }

/** Migrates the databases of the services. */
export async function migrate(context) {
  const { progress } = context
  const ports = await drawPorts(0)
  await progress.step('Migrating databases', () =>
    Promise.all(
      INNER.filter((service) => existsSync(script(service, 'migrate'))).map((service) =>
        run(process.execPath, [script(service, 'migrate')], {
          cwd: PROJECT,
          env: { ...serviceEnv(service, { ...context, ports }), ...migrationEnv(context) },
        }),
      ),
    ),
  )
}

/** Starts all services and returns them with their ports when each has reported ready. */
export async function startServices(context, gatewayPort) {
  chmodSync(prepare(path.join(context.dir, 'home')), 0o700)
  for (let draw = 1; ; draw++) {
    const ports = await drawPorts(gatewayPort || (await freePort()))
    const starting = [...INNER, ...OUTER].map((name) => startService(name, { ...context, ports }))
    const children = await Promise.all(starting)
    try {
      await Promise.all(children.map((child) => untilStarted(context.processes, child)))
      return { children, ports }
    } catch (error) {
      await Promise.all(children.map((child) => context.processes.stop(child)))
      if (!saysPortTaken(error) || draw === DRAWS_MAX) throw error
    }
  }
}

/** Starts another replica of a service at a port of its own choice: for services that no other one calls. */
export async function startReplica(service, name, context) {
  const child = await startService(service, context, { name, SVC_LISTEN__PORT: '0' })
  await untilStarted(context.processes, child)
  return child
}

async function startService(service, context, { name = service, ...more } = {}) {
  const env = { ...serviceEnv(service, context), ...(await rpcEnv(service, context.dir)), ...more }
  return context.processes.start({
    name,
    command: process.execPath,
    args: [script(service, 'main')],
    env,
    cwd: PROJECT,
    tier: INNER.includes(service) ? TIER.inner : TIER.outer,
  })
}

/**
 * Starts Python workers, which retry until the gateway accepts them. They get the bootstrap token
 * over a pipe: environment, command line and files can be read by the code that they run. `isolated`
 * of the answer says if they run under users of their own.
 */
export async function startWorkers(context, { count, url, variables }) {
  if (count === 0) return { workers: [], isolated: true }
  const { dir, processes, python, settings } = context
  const names = Array.from({ length: count }, (_, index) => `worker-${index + 1}`)
  const { places, isolated } = await workerPlaces({ dir, python, names, variables })
  const args = ['-P', '-m', 'windlass.worker', 'start', '--server-url', url]
  // Its executions then return to the queue before the services stop.
  const drain = ['--drain-timeout', String(DRAIN_S)]
  const workers = names.map((name, index) =>
    processes.start({
      name,
      command: python,
      args: [...args, ...drain, '--bootstrap-token-fd', '3'],
      ...places[index],
      input: () => bootstrapToken(dir, settings),
      tier: TIER.worker,
      expendable: true,
    }),
  )
  return { workers, isolated }
}

/** Returns the configured token, or the one that identity generated at its first start. */
function bootstrapToken(dir, { workers }) {
  return workers.bootstrap_token?.trim() || readFileSync(path.join(dir, 'home/bootstrap-token'))
}

function untilStarted(processes, child) {
  return processes.untilReady(child, () => STARTED.test(written(child)), READY_LIMIT_MS)
}

function script(service, name) {
  return path.join(PROJECT, 'services', service, 'dist', `${name}.js`)
}
