import { isTerminal } from '@windlass/domain/states'
import { Fault, notFound } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import { z } from 'zod'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import { route } from '../route/route.ts'
import { claimHolderOf } from './claim-holder.ts'

interface Deps {
  executions: ExecutionsClient
}

/**
 * Cancels a nested run of the execution in the path; any other execution is answered like one that does not
 * exist. A nested run that has ended stays unchanged.
 */
export const cancelNestedRun = route(
  'post',
  '/workers/{name}/nested/{execution_id}/{nested_id}/cancel',
  {
    summary: 'Cancel a nested run of an execution',
    access: 'own execution',
    returns: z.object({ state: z.string() }).meta({ id: 'NestedRunState' }),
    async handle({ params, resolved, ctx }, { executions }: Deps) {
      const { execution_id, nested_id } = params
      const writer = claimHolderOf(resolved, ctx, execution_id)
      await executions.submit({
        execution_id,
        with_log: false,
        body: { $case: 'verify', value: { writer } },
      })
      const nested = await executions.find(nested_id)
      if (nested?.parent_id !== execution_id) throw notFound('Execution', nested_id)
      if (isTerminal(nested.state)) return { state: nested.state }
      return { state: await cancel(executions, nested_id) }
    },
  },
)

async function cancel(executions: ExecutionsClient, execution_id: string): Promise<string> {
  const value = { request_id: newId() }
  const command = { execution_id, with_log: false, body: { $case: 'cancel' as const, value } }
  try {
    return (await executions.submit(command)).execution.state
  } catch (error) {
    // It has ended in the meantime.
    if (error instanceof Fault && error.kind === 'invalid')
      return (await executions.get(execution_id)).state
    throw error
  }
}
