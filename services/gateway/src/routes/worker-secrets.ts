import { isTerminal } from '@windlass/domain/states'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault } from '@windlass/runtime/faults'
import { parseId } from '@windlass/runtime/ids'
import { z } from 'zod'
import type { Caches } from '../cache/create-caches.ts'
import type { Clients } from '../clients/connect.ts'
import type { ExecutionsClient } from '../clients/executions.ts'
import { batchOf, listed, readSecretsRequest, undeclared } from '../domain/entries.ts'
import { jsonSlices } from '../route/body.ts'
import { route } from '../route/route.ts'
import { claimHolderOf } from './claim-holder.ts'
import { unkept, Values } from './entries.ts'

export interface Deps {
  executions: ExecutionsClient
  getDeclaredSecrets: Caches['getDeclaredSecrets']
  secrets: Clients['secrets']
}

const SecretsRequest = z
  .object({ execution_id: z.string(), names: z.array(z.string()).max(100) })
  .meta({ id: 'SecretsRequest' })

export const workerSecrets = route('post', '/workers/{name}/secrets/batch', {
  summary: 'Fetch secrets that the workflow of a held execution declares',
  access: 'own worker',
  body: jsonSlices(SecretsRequest, readSecretsRequest),
  returns: Values,
  async handle({ body: { execution_id, names }, resolved, ctx }, deps: Deps) {
    unkept(ctx)
    const execution = await held(deps, execution_id, claimHolderOf(resolved, ctx))
    const others = undeclared(names, await deps.getDeclaredSecrets(execution.workflow_id))
    if (others.length > 0)
      throw new Fault('forbidden', `Secrets not declared by workflow: ${listed(others)}`)
    const { entries } = await deps.secrets.getMany({ names })
    return batchOf(names, entries, 'secrets')
  },
})

const unknown = () => new Fault('not_found', 'Execution not found')

/** Returns the execution if this worker holds it now. */
async function held(
  { executions }: Deps,
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
