import type { Logger } from '@windlass/runtime/process/log'
import type { RequestContext } from './request-context.ts'

const MAX_PATH_LENGTH = 1_024
/** Status for the log, as of nginx: the client disconnected before the response. */
const CLIENT_CLOSED = 499

/**
 * A logger without redaction: every field of its lines is listed below, and redaction costs more
 * than the rest of a line.
 */
export const createRequestLog = (log: Logger): Logger => log.child({}, { redact: [] })

/** Logs one line per request. Queries are left out: they may contain secrets. */
export function logRequest(
  { requestLog }: { requestLog: Logger },
  { req, res, id, path, route, startedAt }: RequestContext,
): void {
  requestLog.info(
    {
      request_id: id,
      method: req.method,
      path: path.length > MAX_PATH_LENGTH ? path.slice(0, MAX_PATH_LENGTH) : path,
      route,
      status: res.headersSent ? res.statusCode : CLIENT_CLOSED,
      ms: Math.round((performance.now() - startedAt) * 100) / 100,
    },
    'request',
  )
}
