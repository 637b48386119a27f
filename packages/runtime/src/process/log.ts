import { type DestinationStream, type Logger, pino } from 'pino'
import { followLevel } from './log-level.ts'

export type { Logger } from 'pino'

const SECRET_FIELDS = [
  'authorization',
  'token',
  'secret',
  'value',
  'value_json',
  'input_json',
  'output_json',
]

/** Fields of PostgreSQL errors that can repeat a rejected row. */
const ROW_FIELDS = ['detail', 'where', 'internalQuery']

/** An error as it is logged: without what was to be written. */
function shown(error: Error): Record<string, unknown> {
  const fields: Record<string, unknown> = pino.stdSerializers.err(error)
  for (const field of ROW_FIELDS) delete fields[field]
  return fields
}

const BUFFER_BYTES = 4_096
const FLUSH_MS = 100

/** Opens the output of log lines: standard output, or standard error where that is taken. */
export const openLogOutput = (fd: 1 | 2 = 1): DestinationStream =>
  // A write for each line costs more than the line; what is buffered is flushed at the end, too.
  pino.destination({ dest: fd, sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS })

/** Structured lines; fields that may carry secrets or payloads are cut out by name. */
export function createLog(
  service: string,
  level: string,
  output: DestinationStream = openLogOutput(),
): Logger {
  const log = pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: shown },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), remove: true },
    },
    output,
  )
  followLevel(log)
  return log
}
