import { Fault } from '@windlass/runtime/faults'
import { bearerOf } from './authenticate.ts'
import { type Asked, rule } from './rule.ts'

/** The worker that a request comes from, as far as it can be told. */
export interface Owner {
  worker_name: string
  /** Empty: the newest registration of the name is meant. */
  session_id: string
}

export const ownWorker = rule({
  summary:
    'the session token of the worker in the path; none is needed while authentication is off',
  for: 'machines',
  async admit({ x, params, services }: Asked<{ name: string }>): Promise<Owner> {
    const token = bearerOf(x)
    const { name } = params
    if (token === undefined) {
      if (!services.settings.security.auth.enabled) return { worker_name: name, session_id: '' }
      throw new Fault('unauthenticated', 'Authorization token required')
    }
    const session = await services.sessionOf(token)
    if (session.worker_name === name) return session
    throw new Fault(
      'forbidden',
      `Worker identity mismatch: authenticated as '${session.worker_name}', but accessing endpoint for '${name}'`,
    )
  },
})
