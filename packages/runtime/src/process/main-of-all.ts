import { Readiness } from '../admin/readiness.ts'
import { ConfigError } from '../config/config-error.ts'
import { loadSettings } from '../config/load-settings.ts'
import { Colocation } from './colocation.ts'
import { createLog, openLogOutput } from './log.ts'
import { drainMsOf, logLevel, type Runtime, runProcess, type Start, startOne } from './main.ts'
import { Teardown } from './teardown.ts'

/** A service of the process. */
export interface ColocatedService {
  name: string
  start: Start
  /** Services of a higher tier are stopped before those of a lower one, which they call. */
  tier: number
}

/** The service on whose admin port the metrics of the process are: once, or they would be summed. */
const METRICS_SERVICE = 'gateway'

/** Environment variables of each service, as a process of its own would have them. */
export type Environments = Record<string, NodeJS.ProcessEnv>

interface OneService extends ColocatedService {
  env: NodeJS.ProcessEnv
  runtime: Runtime
}

/**
 * The life of a process of several services: all start at the same time, and a signal stops them, the
 * callers first. Each has settings, credentials, a log and a database role of its own. If one cannot
 * start, or an exception is caught by no service, the process ends: what is true of one process is
 * true of all of its services.
 */
export async function mainOfAll(
  services: readonly ColocatedService[],
  readEnvironments: () => Environments,
): Promise<void> {
  const output = openLogOutput()
  const log = createLog('all', logLevel(), output)
  const teardown = new Teardown(log)
  const colocation = new Colocation(services.map(({ name }) => name))
  const runtimes = services.map(({ name }): Runtime => {
    const own = createLog(name, logLevel(), output)
    return { log: own, teardown: new Teardown(own), readiness: new Readiness(), colocation }
  })
  const readiness = runtimes.map((runtime) => runtime.readiness)
  await runProcess({ log, teardown, readiness }, () => {
    const environments = readEnvironments()
    const complete = services.map((service, i): OneService => {
      const env = environments[service.name]
      if (!env) throw new ConfigError(`no environment for ${service.name}`)
      return { ...service, env, runtime: runtimes[i] as Runtime }
    })
    return startAll(complete, teardown)
  })
}

async function startAll(services: readonly OneService[], teardown: Teardown) {
  const tiers = [...new Set(services.map(({ tier }) => tier))].sort((a, b) => a - b)
  for (const tier of tiers) {
    const stopping = services.filter((service) => service.tier === tier)
    const stop = () => Promise.all(stopping.map(({ runtime }) => runtime.teardown.run()))
    teardown.add(`services of tier ${tier}`, stop)
  }
  const starting = services.map(async ({ name, start, env, runtime }) => {
    const settings = loadSettings(env)
    const component = name === METRICS_SERVICE ? 'all' : undefined
    const ports = await startOne(start, settings, runtime, { hasAdminPort: true, component })
    return { name, ports, drainMs: drainMsOf(settings) }
  })
  // Those that do start are stopped as well if another one cannot.
  await Promise.allSettled(starting)
  const started = await Promise.all(starting)
  return {
    ports: Object.fromEntries(started.map(({ name, ports }) => [name, ports])),
    drainMs: Math.max(...started.map(({ drainMs }) => drainMs)),
  }
}
