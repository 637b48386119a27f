import { once } from 'node:events'
import { ConfigError } from '../config/config-error.ts'
import { loadSettings } from '../config/load-settings.ts'
import type { Settings } from '../config/settings.ts'
import { createLog, type Logger } from './log.ts'
import { Teardown } from './teardown.ts'

export interface Runtime {
  log: Logger
  teardown: Teardown
}

export type Start = (settings: Settings, runtime: Runtime) => Promise<Record<string, number>>

const STOP_MS = 20_000

/**
 * The life of every service process: configure, start, wait for a signal, stop. A process that
 * cannot start says why in one line and exits 1; one that hangs while stopping is ended.
 */
export async function main(service: string, start: Start, logFd: 1 | 2 = 1): Promise<void> {
  const log = createLog(service, process.env.SVC_LOG_LEVEL ?? 'info', logFd)
  const teardown = new Teardown(log)
  process.on('unhandledRejection', (reason) => {
    log.fatal({ err: reason }, 'unhandled rejection')
    process.exit(1)
  })
  // State is unknown after an exception that nothing caught: log it as a line, end, and be restarted.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception')
    process.exit(1)
  })
  try {
    const ports = await start(loadSettings(), { log, teardown })
    log.info({ ports }, 'started')
    await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
    log.info('stopping')
  } catch (error) {
    const fields = error instanceof ConfigError ? {} : { err: error }
    log.fatal(fields, `failed to start: ${(error as Error).message}`)
    process.exitCode = 1
  }
  setTimeout(() => process.exit(1), STOP_MS).unref()
  await teardown.run()
  log.info('stopped')
}
