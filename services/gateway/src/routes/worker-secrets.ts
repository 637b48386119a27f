import { SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import { Fault } from '@windlass/runtime/faults'
import { parseId } from '@windlass/runtime/ids'
import { z } from 'zod'
import type { Caches } from '../cache/create-caches.ts'
import type { Clients } from '../clients/connect.ts'
import { batchOf, listed, readSecretsRequest, undeclared } from '../domain/entries.ts'
import { jsonSlices } from '../route/body.ts'
import { route } from '../route/route.ts'
import { claimHolderOf } from './claim-holder.ts'
import { isPrevious, secretVersion, unkept, Values } from './entry-routes.ts'
import { type EntryUseDeps, useEntries } from './entry-use.ts'
import { getHeldExecution } from './held-execution.ts'

export interface Deps extends EntryUseDeps {
  getRunningVersion: Caches['getRunningVersion']
  secrets: Clients['secrets']
}

const SecretsRequest = z
  .object({ execution_id: z.string(), names: z.array(z.string()).max(100) })
  .meta({ id: 'SecretsRequest' })

export const workerSecrets = route('post', '/workers/{name}/secrets/batch', {
  summary: 'Fetch secrets that the workflow of a held execution declares and may use',
  access: 'own execution',
  query: { version: secretVersion },
  body: jsonSlices(SecretsRequest, readSecretsRequest),
  returns: Values,
  async handle({ body: { execution_id, names }, query, resolved, ctx }, deps: Deps) {
    unkept(ctx)
    const writer = claimHolderOf(resolved, ctx, parseId(execution_id) ?? '')
    const execution = await getHeldExecution(deps.executions, execution_id, writer)
    const version = await deps.getRunningVersion(execution.workflow_id)
    const others = undeclared(names, version.declared)
    if (others.length > 0)
      throw new Fault('forbidden', `Secrets not declared by workflow: ${listed(others)}`)
    const { worker_name } = resolved
    const previous = isPrevious(query)
    const rpc = SecretsService.use.path
    const use = { names, worker_name, previous, rpc, running: { execution, version } }
    return batchOf(names, await useEntries(deps.secrets.use, use, ctx, deps), 'secrets')
  },
})
