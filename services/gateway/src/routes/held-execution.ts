import { isTerminal } from '@windlass/domain/states'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault } from '@windlass/runtime/faults'
import { parseId } from '@windlass/runtime/ids'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import type { claimHolderOf } from './claim-holder.ts'

const unknown = () => new Fault('not_found', 'Execution not found')

/** Returns the execution if this worker holds it now. */
export async function getHeldExecution(
  executions: ExecutionsClient,
  ref: string,
  writer: ReturnType<typeof claimHolderOf>,
): Promise<Execution> {
  const execution_id = parseId(ref)
  if (!execution_id) throw unknown()
  try {
    const { execution } = await executions.submit({
      execution_id,
      with_log: false,
      body: { $case: 'verify', value: { writer } },
    })
    return execution
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.kind === 'not_found') throw unknown()
    if (error.kind !== 'conflict') throw error
    const execution = await executions.get(execution_id)
    if (isOutdated(execution, writer.claim_generation)) throw error
    throw new Fault('forbidden', 'Worker does not own this execution')
  }
}

/** True if the worker's own claim generation shows that its claim is stale. */
const isOutdated = ({ state, claim_generation }: Execution, claimed: number | undefined) =>
  claimed !== undefined && claimed < claim_generation && !isTerminal(state)
