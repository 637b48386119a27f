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

const BUFFER_LENGTH = 4_096
const FLUSH_MS = 100

/**
 * Opens the output of log lines: standard output, or standard error where that is taken. Lines are
 * written together, since a write for each costs more than the line: after FLUSH_MS, or earlier when
 * BUFFER_LENGTH is reached. The periodic flush of the destination itself would write nothing, in a
 * thread, ten times a second: half of the processor time of an idle service.
 */
export function openLogOutput(fd: 1 | 2 = 1): DestinationStream {
  let lines = ''
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (lines === '') return
    const text = lines
    lines = ''
    output.write(text)
  }
  // Before the listeners of the destination, which close it or write what it holds.
  process.once('beforeExit', flush)
  process.once('exit', flush)
  const output = pino.destination({ dest: fd, sync: false })
  const destination = {
    write(line: string) {
      lines += line
      if (lines.length >= BUFFER_LENGTH) flush()
      else timer ??= setTimeout(flush, FLUSH_MS).unref()
    },
    /** Called by pino after a fatal line. */
    flushSync() {
      flush()
      output.flushSync()
    },
  }
  return destination
}

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
