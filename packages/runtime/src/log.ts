import { type Logger, pino } from 'pino'

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

/**
 * Structured lines on standard output, or on standard error where that is taken; fields that may
 * carry secrets or payloads are cut out by name.
 */
export const createLog = (service: string, level: string, fd: 1 | 2 = 1): Logger =>
  pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), remove: true },
    },
    pino.destination(fd),
  )
