import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

const SECRET_FIELDS = ['authorization', 'token', 'secret', 'value', 'input_json', 'output_json']

/** Structured lines on standard output; fields that may carry secrets or payloads are cut out by name. */
export const createLog = (service: string, level: string): Logger =>
  pino({
    level,
    base: { service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), remove: true },
  })
