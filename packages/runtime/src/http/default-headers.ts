import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[]

const DEFAULTS = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-store'],
] as const

/**
 * Makes a response one that is not sniffed and not stored, unless its route says otherwise. The two
 * headers join a list of headers when it is sent: set in advance with `setHeader`, they would make
 * Node merge the list with them, which takes longer than all else of a small response. A member of
 * the response, not a subclass, because Express replaces the prototype.
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
