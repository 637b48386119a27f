import { unprocessable } from '@windlass/runtime/faults'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import type { RequestContext } from '../http/request-context.ts'

/** Returns the calling worker with the claim generation from its header. */
export function claimHolderOf({ worker_name, session_id }: WorkerIdentity, ctx: RequestContext) {
  const text = ctx.header('x-svc-claim-generation') ?? ctx.header('x-flux-claim-generation')
  if (text === undefined) return { worker_name, session_id }
  if (/^\d{1,15}$/.test(text)) return { worker_name, session_id, claim_generation: Number(text) }
  throw unprocessable({
    loc: ['header', 'claim-generation'],
    msg: 'must be a whole number',
    type: 'int_parsing',
  })
}
