import type { Logger } from '@windlass/runtime/process/log'
import { followLevel } from '@windlass/runtime/process/log-level'
import { traceIdOf } from '@windlass/runtime/tracing/tracing'
import { httpDuration, httpRequests } from '../metrics.ts'
import type { RequestContext } from './request-context.ts'

const MAX_PATH_LENGTH = 1_024
/** Status for the log, the one that nginx uses: the client disconnected before the response. */
const CLIENT_CLOSED = 499

/**
 * A logger without redaction: every field of its lines is listed below, and redaction costs more
 * than the rest of a line.
 */
export function createRequestLog(log: Logger): Logger {
  const requestLog = log.child({}, { redact: [] })
  followLevel(requestLog)
  return requestLog
}

/**
 * Only declared routes and methods are labels, because values that a client chooses must not create series.
 */
function measureRequest(method: string, route: string, { status, ms }: Measured): void {
  httpRequests.add(1, { method, route, status: String(status) })
  httpDuration.record(ms / 1_000, { method, route })
}

interface Measured {
  status: number
  ms: number
}

/** Logs and measures one request. Queries are left out: they may contain secrets. */
export function logRequest(
  { requestLog }: { requestLog: Logger },
  { req, res, id, path, route, startedAt, traceparent }: RequestContext,
): void {
  const ms = performance.now() - startedAt
  const status = res.headersSent ? res.statusCode : CLIENT_CLOSED
  measureRequest(req.method ?? 'none', route ?? 'none', { status, ms })
  requestLog.info(
    {
      request_id: id,
      trace_id: traceIdOf(traceparent),
      method: req.method,
      path: path.length > MAX_PATH_LENGTH ? path.slice(0, MAX_PATH_LENGTH) : path,
      route,
      status,
      ms: Math.round(ms * 100) / 100,
    },
    'request',
  )
}
