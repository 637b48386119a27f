import { unprocessable } from '@windlass/runtime/faults'
import type { Owner } from '../access/worker.ts'
import type { Exchange } from '../http/request-context.ts'

/** Who writes, with the claim that it says it writes under. */
export function writerOf({ worker_name, session_id }: Owner, x: Exchange) {
  const text = x.header('x-svc-claim-generation') ?? x.header('x-flux-claim-generation')
  if (text === undefined) return { worker_name, session_id }
  if (/^\d{1,15}$/.test(text)) return { worker_name, session_id, claim_generation: Number(text) }
  throw unprocessable({
    loc: ['header', 'claim-generation'],
    msg: 'must be a whole number',
    type: 'int_parsing',
  })
}
