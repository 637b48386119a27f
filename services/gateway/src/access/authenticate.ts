import { Fault } from '@windlass/runtime/faults'
import type { Exchange } from '../http/exchange.ts'
import { ANONYMOUS, type Caller } from './caller.ts'

/** The bearer token of a request, undefined without a header. Any other scheme is refused, authentication on or off. */
export function bearerOf(x: Exchange): string | undefined {
  const { authorization } = x.headers
  if (authorization === undefined) return undefined
  const token = authorization.startsWith('Bearer ') ? authorization.slice(7).trim() : ''
  if (token === '')
    throw new Fault('unauthenticated', "Unsupported authorization scheme. Use 'Bearer <token>'.")
  return token
}

/** Who is asking. No provider knows people yet, so with authentication on nobody is let in as one. */
export function authenticate(x: Exchange, isOn: boolean): Caller {
  const token = bearerOf(x)
  if (!isOn) return ANONYMOUS
  throw new Fault(
    'unauthenticated',
    token === undefined ? 'Authorization token required' : 'Invalid or expired token',
  )
}
