import { objects } from '@windlass/domain/audit'
import { ConfigsService } from '@windlass/proto/windlass/identity/v1/secrets'
import { parseId } from '@windlass/runtime/ids'
import { onBehalfOf } from '../access/caller.ts'
import type { Caches } from '../cache/create-caches.ts'
import type { Clients } from '../clients/connect.ts'
import { batchOf, entryView } from '../domain/entries.ts'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import type { RequestContext } from '../http/request-context.ts'
import { route } from '../route/route.ts'
import { claimHolderOf } from './claim-holder.ts'
import {
  detailedQuery,
  EntryList,
  EntryView,
  entryName,
  listEntries,
  names,
  newConfig,
  putEntry,
  SavedEntry,
  savedEntry,
  toEntry,
  Values,
} from './entry-routes.ts'
import { type EntryUseDeps, useEntries } from './entry-use.ts'
import { getHeldExecution } from './held-execution.ts'
import { putHeaders, sendRevision } from './preconditions.ts'
import { Success } from './schemas.ts'

type Deps = Pick<Clients, 'configs'>
export interface BatchDeps extends Deps, EntryUseDeps {
  getRunningVersion: Caches['getRunningVersion']
}

/**
 * Returns the execution of the token, or the one that the worker names in X-Svc-Execution-Id, if it holds
 * it. Workers of earlier releases name none; they get the configs without patterns.
 */
async function runningFor(worker: WorkerIdentity, ctx: RequestContext, deps: BatchDeps) {
  const ref = ctx.header('x-svc-execution-id') ?? worker.execution?.execution_id
  if (ref === undefined) return undefined
  const writer = claimHolderOf(worker, ctx, parseId(ref) ?? '')
  const execution = await getHeldExecution(deps.executions, ref, writer)
  return { execution, version: await deps.getRunningVersion(execution.workflow_id) }
}

export const listConfigs = route('get', '/admin/configs', {
  summary: 'List the names of configs',
  access: 'config:*:read',
  query: detailedQuery,
  returns: EntryList,
  handle: async ({ query }, { configs }: Deps) => listEntries(await configs.list({}), query),
})

export const putConfig = route('post', '/admin/configs', {
  summary: 'Create or replace a config; its value may be any JSON but null',
  access: 'config:*:manage',
  headers: putHeaders,
  body: newConfig,
  returns: SavedEntry,
  audit: {
    action: 'config.put',
    object: ({ body }) => objects.config(body?.name),
    recorded: 'owner',
  },
  async handle({ body, caller, ctx }, { configs }: Deps) {
    const request = { entry: toEntry(body) }
    return savedEntry('Config', body.name, await putEntry(configs, request, { caller, ctx }))
  },
})

export const getConfig = route('get', '/admin/configs/{name}', {
  summary: 'Show a config with its value',
  access: 'config:*:read',
  params: { name: entryName },
  query: detailedQuery,
  returns: EntryView,
  async handle({ params: { name }, query, ctx }, { configs }: Deps) {
    const entry = await configs.get({ name })
    sendRevision(ctx, entry.revision)
    return entryView(entry, query.detailed)
  },
})

export const deleteConfig = route('delete', '/admin/configs/{name}', {
  summary: 'Delete a config, if it exists',
  access: 'config:*:manage',
  params: { name: entryName },
  returns: Success,
  audit: {
    action: 'config.delete',
    object: ({ params }) => objects.config(params.name),
    recorded: 'owner',
  },
  async handle({ params: { name }, caller, ctx }, { configs }: Deps) {
    await configs.delete({ name }, onBehalfOf(ctx, caller))
    return { status: 'success' as const, message: `Config '${name}' deleted successfully` }
  },
})

export const getConfigs = route('post', '/admin/configs/batch', {
  summary: 'Fetch the values of several configs; a worker gets those that its workflow may use',
  access: 'may read configs',
  body: names,
  returns: Values,
  async handle({ body, resolved, ctx }, deps: BatchDeps) {
    if (!resolved) {
      const { entries } = await deps.configs.getMany({ names: body })
      return batchOf(body, entries, 'configs')
    }
    const running = await runningFor(resolved, ctx, deps)
    const rpc = ConfigsService.use.path
    const use = { names: body, worker_name: resolved.worker_name, rpc, running }
    return batchOf(body, await useEntries(deps.configs.use, use, ctx, deps), 'configs')
  },
})
