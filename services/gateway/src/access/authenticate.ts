import { Fault, invalid } from '@windlass/runtime/faults'
import type { Exchange } from '../http/exchange.ts'
import type { Services } from '../services.ts'
import { ANONYMOUS, type Caller } from './caller.ts'

/** The header that says who is asking. Of two of them Node would take the first and others the last, so both are refused. */
export function authorizationOf({ req, headers }: Exchange): string | undefined {
  let given = 0
  for (let i = 0; i < req.rawHeaders.length; i += 2)
    if (req.rawHeaders[i]?.toLowerCase() === 'authorization') given++
  if (given > 1) throw invalid('Duplicate Authorization header')
  return headers.authorization
}

/** The bearer token of a request, undefined without a header. Any other scheme is refused, authentication on or off. */
export function bearerOf(x: Exchange): string | undefined {
  const authorization = authorizationOf(x)
  if (authorization === undefined) return undefined
  const token = authorization.startsWith('Bearer ') ? authorization.slice(7).trim() : ''
  if (token === '')
    throw new Fault('unauthenticated', "Unsupported authorization scheme. Use 'Bearer <token>'.")
  return token
}

/** Who is asking. Every request is looked at anew; while authentication is off nobody is told apart. */
export async function authenticate(
  x: Exchange,
  { settings, callerOf }: Pick<Services, 'settings' | 'callerOf'>,
): Promise<Caller> {
  const token = bearerOf(x)
  if (!settings.security.auth.enabled) return ANONYMOUS
  if (token === undefined) throw new Fault('unauthenticated', 'Authorization token required')
  return callerOf(token)
}
