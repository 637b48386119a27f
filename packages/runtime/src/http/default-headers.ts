import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[]

const DEFAULTS = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-store'],
] as const

/**
 * Adds headers that forbid sniffing and storing the response, unless its route says otherwise. The two
 * headers join a list of headers when that is sent: with `setHeader` beforehand, Node would merge the list
 * with them, which takes longer than everything else in a small response. A member of the response and not
 * a subclass, because Express replaces the prototype.
 */
export function addDefaultHeaders(res: ServerResponse): void {
  res.writeHead = writeHead as typeof res.writeHead
}

function writeHead(
  this: ServerResponse,
  status: number,
  reason?: string | Headers,
  headers?: Headers,
): ServerResponse {
  const given = typeof reason === 'string' ? headers : (reason ?? headers)
  const isList = Array.isArray(given) && this.getHeaderNames().length === 0
  if (!isList)
    for (const [name, value] of DEFAULTS) if (!this.hasHeader(name)) this.setHeader(name, value)
  const rest = isList ? withDefaults(given) : given
  const args = typeof reason === 'string' ? [status, reason, rest] : [status, rest]
  return Reflect.apply(ServerResponse.prototype.writeHead, this, args)
}

function withDefaults(list: OutgoingHttpHeader[]): OutgoingHttpHeader[] {
  const all = [...list]
  for (const [name, value] of DEFAULTS) if (!hasName(list, name)) all.push(name, value)
  return all
}

/** Names are at even positions. */
function hasName(list: OutgoingHttpHeader[], name: string): boolean {
  for (let i = 0; i < list.length; i += 2) if (String(list[i]).toLowerCase() === name) return true
  return false
}
