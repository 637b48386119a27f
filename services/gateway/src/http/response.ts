import { Fault, type Kind, type Problem } from '@windlass/runtime/faults'
import { JsonError, quote } from '@windlass/runtime/json/json'
import { discardBody, hasBody } from './read-body.ts'
import type { RequestContext } from './request-context.ts'

const STATUSES: Record<Kind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media: 415,
  unprocessable: 422,
  rate_limited: 429,
  misconfigured: 500,
  unavailable: 503,
}

const HEADERS: Partial<Record<Kind, string[]>> = {
  unauthenticated: ['www-authenticate', 'Bearer'],
  unavailable: ['retry-after', '1'],
}

/** Sends a complete JSON response. */
export function sendJson(ctx: RequestContext, status: number, text: string): void {
  send(ctx, { status, type: 'application/json', text })
}

interface TextResponse {
  status: number
  type: string
  text: string
}

export function send(
  { req, res, id, responseHeaders }: RequestContext,
  { status, type, text }: TextResponse,
): void {
  if (res.headersSent || res.destroyed) return
  const bytes = Buffer.byteLength(text)
  const headers = ['content-type', type, 'content-length', String(bytes), 'x-request-id', id]
  res.writeHead(status, responseHeaders.length > 0 ? [...headers, ...responseHeaders] : headers)
  if (req.complete || !req.readableFlowing) return void res.end(text)
  // The client is still sending a body, which is discarded; if the connection closed now, it would lose the
  // response.
  res.write(text)
  const end = () => res.end()
  req.once('end', end).once('close', end)
}

/**
 * Sends a refusal. The message of a Fault is meant for the caller; nothing is disclosed of any other error.
 */
export function sendFault(ctx: RequestContext, error: unknown): void {
  if (!ctx.req.complete && !ctx.req.readableFlowing && hasBody(ctx)) discardBody(ctx)
  const fault = faultOf(error)
  ctx.responseHeaders.push(...((fault && HEADERS[fault.kind]) ?? []))
  const { status, detail_json } = fault ? refusalOf(fault) : DEFECT
  sendJson(ctx, status, `{"detail":${detail_json}}`)
}

/** Answer to any error that is no Fault. */
const DEFECT = { status: 500, detail_json: '"Internal server error"' }

/** Status and JSON text of the detail of a refusal, for an answer that contains several results. */
export const refusalOf = (fault: Fault) => ({
  status: STATUSES[fault.kind],
  detail_json: detailOf(fault),
})

/** Returns the Fault for a thrown value, or undefined for a bug. */
export function faultOf(error: unknown): Fault | undefined {
  if (error instanceof Fault) return error
  if (error instanceof JsonError) return malformed(error)
  // Express throws an error with status 400 for a path that cannot be decoded.
  if (error instanceof Error && (error as { status?: unknown }).status === 400)
    return new Fault('invalid', 'Malformed path')
  return undefined
}

function malformed({ offset, reason, message }: JsonError): Fault {
  const type = reason === 'malformed' ? 'json_invalid' : `json_${reason}`
  const problem: Problem = { loc: ['body', offset], msg: `JSON decode error: ${message}`, type }
  return new Fault('unprocessable', message, { details: { problems: [problem] } })
}

/** Kinds whose detail is a list of what is wrong, each with its place in the request. */
const LISTS_PROBLEMS = new Set<Kind>(['unprocessable', 'precondition_failed'])

function detailOf({ kind, message, details }: Fault): string {
  if (LISTS_PROBLEMS.has(kind) && details?.problems) return JSON.stringify(details.problems)
  return details ? JSON.stringify({ message, ...details }) : quote(message)
}
