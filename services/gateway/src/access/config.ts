import { Fault } from '@windlass/runtime/faults'
import type { Services } from '../clients/connect.ts'
import type { Exchange } from '../http/request-context.ts'
import { authenticate, bearerOf } from './authenticate.ts'
import { demand } from './caller.ts'
import { type Asked, rule } from './rule.ts'

/** Workers fetch what their tasks ask for from the route of the operators. */
export const mayReadConfigs = rule({
  summary: 'config:*:read, or the session token of any worker',
  for: 'machines',
  asks: ['config:*:read'],
  async admit({ x, services }: Asked<unknown>): Promise<void> {
    const { enabled } = services.settings.security.auth
    if (enabled && (await isWorker(services, x))) return
    demand(await authenticate(x, services), 'config:*:read')
  },
})

async function isWorker(services: Services, x: Exchange): Promise<boolean> {
  const token = bearerOf(x)
  if (token === undefined) return false
  try {
    await services.sessionOf(token)
    return true
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unauthenticated') return false
    throw error
  }
}
