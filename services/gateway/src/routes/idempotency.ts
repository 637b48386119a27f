import { createHash } from 'node:crypto'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { unprocessable } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import type { Caller } from '../access/caller.ts'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import type { RequestContext } from '../http/request-context.ts'

export const MAX_KEY_LENGTH = 255

interface Run {
  workflow: Pick<Workflow, 'namespace' | 'name'>
  caller: Caller
  body: string
  executions: Pick<ExecutionsClient, 'reserveExecutionId'>
}

/**
 * Returns the execution id and request hash of a run. Repetitions by a caller with the same
 * `Idempotency-Key` for the same workflow get the same id for 24 hours, so they start no second execution;
 * the hash distinguishes a repetition from another request with a used key. The id of a nested run is
 * derived from its key: the nested run may take longer than a key is kept, and its parent requests it again
 * whenever the parent continues.
 */
export async function resolveIdempotencyKey(
  ctx: Pick<RequestContext, 'header'>,
  { workflow, caller, body, executions }: Run,
) {
  const key = ctx.header('idempotency-key')
  if (key === undefined) return { execution_id: newId(), request_hash: '' }
  requireKeyLength(key, MAX_KEY_LENGTH)
  const { namespace, name } = workflow
  const key_id = digest(JSON.stringify([caller.issuer, caller.subject, namespace, name, key]))
  const parent = caller.execution?.exec_id
  const wanted = parent === undefined ? '' : toId(digest(JSON.stringify([parent, key_id])))
  return {
    execution_id: await executions.reserveExecutionId(toId(key_id), wanted),
    request_hash: digest(body),
  }
}

export function requireKeyLength(key: string, most: number): void {
  if (key !== '' && key.length <= most) return
  throw unprocessable({
    loc: ['header', 'Idempotency-Key'],
    msg: `must have 1 to ${most} characters`,
    type: 'value_error',
  })
}

/** The first 128 bits. */
const toId = (hex: string) => hex.slice(0, 32)

const digest = (text: string) => createHash('sha256').update(text).digest('hex')
