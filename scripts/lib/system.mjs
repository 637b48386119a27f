import { existsSync } from 'node:fs'
import path from 'node:path'
import { PROJECT, prepare } from './data-dir.mjs'
import { written } from './logs.mjs'
import { freePort, saysPortTaken } from './ports.mjs'
import { rpcEnv } from './rpc-keys.mjs'
import { run } from './run.mjs'
import { drawPorts, INNER, migrationEnv, OUTER, serviceEnv } from './topology.mjs'

const READY_LIMIT_MS = 30_000
const DRAWS_MAX = 5
const DRAIN_S = 3
const STARTED = /"msg":"started"/

// what is stopped first has the highest tier; PostgreSQL, NATS and Redis have none
const TIER = { inner: 1, outer: 2, worker: 3 }

/** Brings the databases of the services up to date. */
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

/** Starts all services and returns them with their ports when each has said that it is ready. */
export async function startServices(context, gatewayPort) {
  prepare(path.join(context.dir, 'home'))
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

/** One more process of a service, at a port that it draws itself: for those that nobody calls. */
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

/** Starts Python workers; they keep trying until the gateway takes them. */
export function startWorkers({ dir, processes, python }, { count, url }) {
  const tokenFile = path.join(dir, 'home/bootstrap-token')
  const args = ['-m', 'windlass.worker', 'start', '--server-url', url]
  // What it runs then goes back to the queue before the services stop.
  const drain = ['--drain-timeout', String(DRAIN_S)]
  return Array.from({ length: count }, (_, index) =>
    processes.start({
      name: `worker-${index + 1}`,
      command: python,
      args: [...args, ...drain, '--bootstrap-token-file', tokenFile],
      env: { ...process.env, PYTHONUNBUFFERED: '1' },
      cwd: PROJECT,
      tier: TIER.worker,
      expendable: true,
    }),
  )
}

function untilStarted(processes, child) {
  return processes.untilReady(child, () => STARTED.test(written(child)), READY_LIMIT_MS)
}

function script(service, name) {
  return path.join(PROJECT, 'services', service, 'dist', `${name}.js`)
}
