import type { Logger } from '@windlass/runtime/process/log'
import type { RequestContext } from './request-context.ts'

const MAX_PATH_LENGTH = 1_024
/** As nginx has it: the client left before it was answered. */
const CLIENT_CLOSED = 499

/** For lines whose every field is named here: looking for secrets in them costs more than the rest of the line. */
export const createRequestLog = (log: Logger): Logger => log.child({}, { redact: [] })

/** The one line that each request leaves. Queries are not in it: they may hold anything. */
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
