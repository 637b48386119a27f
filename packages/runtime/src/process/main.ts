import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { startAdminServer } from '../admin/admin-server.ts'
import { Readiness } from '../admin/readiness.ts'
import { ConfigError } from '../config/config-error.ts'
import { loadSettings } from '../config/load-settings.ts'
import type { Settings } from '../config/settings.ts'
import { startMetrics } from '../metrics/exposition.ts'
import { observeProcess } from '../metrics/process-metrics.ts'
import { startTracing } from '../tracing/start-tracing.ts'
import type { Colocation } from './colocation.ts'
import { createLog, type Logger, openLogOutput } from './log.ts'
import { switchLevelOnSignal } from './log-level.ts'
import { Teardown } from './teardown.ts'

export interface Runtime {
  log: Logger
  teardown: Teardown
  /** A service adds what it cannot work without. */
  readiness: Readiness
  /** Shared parts of the services of this process, if several run in it. */
  colocation?: Colocation | undefined
}

export type Start = (settings: Settings, runtime: Runtime) => Promise<Record<string, number>>

export interface MainOptions {
  /** Standard error if the service needs standard output for itself. */
  logFd?: 1 | 2
  /** False for a process that a client starts for itself, and which has no probes. */
  hasAdminPort?: boolean
}

const STOP_MS = 20_000

/**
 * The life of a process of one service: configure, start, wait for a signal, stop. A process that
 * cannot start says why in one line and exits 1; one that hangs while stopping is ended.
 */
export async function main(
  service: string,
  start: Start,
  { logFd = 1, hasAdminPort = true }: MainOptions = {},
): Promise<void> {
  const log = createLog(service, logLevel(), openLogOutput(logFd))
  const runtime = { log, teardown: new Teardown(log), readiness: new Readiness() }
  await runProcess({ ...runtime, readiness: [runtime.readiness] }, async () => {
    const settings = loadSettings()
    const ports = await startOne(start, settings, runtime, { hasAdminPort, component: service })
    return { ports, drainMs: drainMsOf(settings) }
  })
}

export const logLevel = (): string => process.env.SVC_LOG_LEVEL ?? 'info'

/** Time for which a process that must stop answers requests and reports that it is not ready. */
export const drainMsOf = ({ admin }: Settings): number => admin.drain_delay * 1_000

/** Starts a service with its admin port; returns the ports of both. */
export async function startOne(
  start: Start,
  settings: Settings,
  runtime: Runtime,
  { hasAdminPort, component }: AdminOptions,
): Promise<Record<string, number>> {
  if (component) await startTracing(settings, component, runtime)
  const admin = hasAdminPort ? await openAdminPort(settings, runtime, component) : {}
  const ports = await start(settings, runtime)
  runtime.readiness.setServing()
  return { ...ports, ...admin }
}

interface AdminOptions {
  hasAdminPort: boolean
  /** Label of the metrics and spans of the process; absent: another service of it has them. */
  component?: string | undefined
}

interface ProcessParts extends Pick<Runtime, 'log' | 'teardown'> {
  /** One for each service of the process. */
  readiness: readonly Readiness[]
}

interface StartedProcess {
  ports: object
  drainMs: number
}

/** Runs what `start` starts until a signal arrives, then the teardown. */
export async function runProcess(
  { log, teardown, readiness }: ProcessParts,
  start: () => Promise<StartedProcess>,
): Promise<void> {
  endOnUnexpectedError(log)
  switchLevelOnSignal(log)
  try {
    const { ports, drainMs } = await start()
    log.info({ ports }, 'started')
    await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
    for (const each of readiness) each.setStopping()
    log.info('stopping')
    await sleep(drainMs)
  } catch (error) {
    const fields = error instanceof ConfigError ? {} : { err: error }
    log.fatal(fields, `failed to start: ${(error as Error).message}`)
    process.exitCode = 1
  }
  setTimeout(() => process.exit(1), STOP_MS).unref()
  await teardown.run()
  log.info('stopped')
}

/** The first step of the teardown, so the last to be released. */
async function openAdminPort(
  { admin }: Settings,
  { log, teardown, readiness }: Runtime,
  component: string | undefined,
) {
  const metrics = admin.metrics && component ? openMetrics(component, teardown) : undefined
  const server = await startAdminServer(admin, { log, readiness, writeMetrics: metrics?.write })
  teardown.add('admin', () => server.stop())
  return { admin: server.port }
}

function openMetrics(component: string, teardown: Teardown) {
  const metrics = startMetrics(component)
  teardown.add('metrics', () => metrics.stop())
  const stopObserving = observeProcess()
  teardown.add('process metrics', stopObserving)
  return metrics
}

function endOnUnexpectedError(log: Logger): void {
  process.on('unhandledRejection', (reason) => {
    log.fatal({ err: reason }, 'unhandled rejection')
    process.exit(1)
  })
  // State is unknown after an exception that nothing caught: log it as a line, end, and be restarted.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception')
    process.exit(1)
  })
}
