import type { Writer } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault, unprocessable } from '@windlass/runtime/faults'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import type { Restrictions } from '../domain/worker-restrictions.ts'
import type { RequestContext } from '../http/request-context.ts'

export type ClaimHolder = ReturnType<typeof claimHolderOf>

/**
 * Returns the calling worker with the claim generation of its header or of its execution token; refuses
 * a token of another execution or claim.
 */
export function claimHolderOf(
  worker: WorkerIdentity,
  ctx: RequestContext,
  execution_id: string,
): Writer {
  const { worker_name, session_id, execution } = worker
  const claim_generation = generationOf(ctx)
  if (!execution) {
    const namespaces = namespacesOf(worker)
    return {
      ...{ worker_name, session_id },
      ...(claim_generation !== undefined && { claim_generation }),
      ...(namespaces && { namespaces: { names: namespaces } }),
    }
  }
  if (execution.execution_id !== execution_id)
    throw new Fault(
      'forbidden',
      'Permission denied: the execution token belongs to another execution',
    )
  if (claim_generation !== undefined && claim_generation !== execution.claim_generation)
    throw new Fault('forbidden', 'Permission denied: the execution token belongs to another claim')
  return { worker_name, session_id, claim_generation: execution.claim_generation }
}

function generationOf(ctx: RequestContext): number | undefined {
  const text = ctx.header('x-svc-claim-generation') ?? ctx.header('x-flux-claim-generation')
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw unprocessable({
    loc: ['header', 'claim-generation'],
    msg: 'must be a whole number',
    type: 'int_parsing',
  })
}

/** Executions of other namespaces do not exist for a worker that is restricted to some. */
function namespacesOf({ grant }: WorkerIdentity): string[] | undefined {
  if (!grant) return undefined
  const { namespaces } = JSON.parse(grant.restrictions_json) as Restrictions
  return namespaces ?? undefined
}
