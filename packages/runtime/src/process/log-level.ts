import type { Logger } from 'pino'

/** All loggers of the process, with the level that each began with. */
const levels = new Map<Logger, string>()

/** Lets a logger, which lives as long as the process, follow the level. */
export function followLevel(log: Logger): void {
  levels.set(log, log.level)
}

/**
 * SIGUSR2 switches all loggers to `debug`, the next one back. A signal and not an endpoint: the admin port
 * asks for no credential. Answers `stop`.
 */
export function switchLevelOnSignal(log: Logger): () => void {
  let isDebugging = false
  const onSignal = () => {
    isDebugging = !isDebugging
    for (const [each, level] of levels) each.level = isDebugging ? 'debug' : level
    log.warn({ log_level: log.level }, 'log level changed by SIGUSR2')
  }
  process.on('SIGUSR2', onSignal)
  return () => void process.off('SIGUSR2', onSignal)
}
