import { type FindLatest, missingPermissionsToRun } from '@windlass/domain/permissions'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault } from '@windlass/runtime/faults'
import type { Services } from '../clients/connect.ts'
import { type Caller, demand, may } from './caller.ts'
import { type Asked, rule } from './rule.ts'

export interface Named {
  namespace: string
  workflow_name: string
}

const denied = (missing_permissions: string[]) =>
  new Fault('forbidden', 'Authorization denied', { details: { missing_permissions } })

/** Everything that running it takes; those that are missing are all named. */
async function demandRun({ caller, services }: Asking, workflow: Workflow): Promise<void> {
  if (!caller.permissions) return
  const missing = await missingPermissionsToRun(caller.permissions, workflow, latestOf(services))
  if (missing.length > 0) throw denied(missing)
}

type Asking = Pick<Asked<unknown>, 'caller' | 'services'>

/** Whoever may neither read nor run a workflow is not told whether it is there. */
function demandSight(caller: Caller, { namespace, workflow_name: name }: Named): void {
  const run = `workflow:${namespace}:${name}:run`
  if (!may(caller, run) && !may(caller, `workflow:${namespace}:${name}:read`)) throw denied([run])
}

export const latestOf =
  (services: Services): FindLatest =>
  (namespace, name) =>
    services.resolve(namespace, name, 0).catch(ifNotFound)

export const mayRun = rule({
  summary:
    'workflow:{namespace}:{workflow_name}:run and whatever the workflow requires; for nested runs an execution token, which asks the same of who started the execution',
  for: 'people',
  takesExecutions: 'all',
  asks: ['workflow:{namespace}:{workflow_name}:run'],
  async admit({ params, query, caller, services }: Asked<Named>): Promise<Workflow> {
    demandSight(caller, params)
    const { namespace, workflow_name: name } = params
    const workflow = await services.resolve(namespace, name, query.version ?? 0)
    await demandRun({ caller, services }, workflow)
    return workflow
  },
})

export interface Resumable {
  execution: Execution
  /** The version that it goes on with, unless that was deleted meanwhile. */
  version: Workflow | undefined
}

export const mayResume = rule({
  summary: 'what running the workflow takes; the execution must be of this workflow',
  for: 'people',
  asks: ['workflow:{namespace}:{workflow_name}:run'],
  async admit({
    params,
    caller,
    services,
  }: Asked<Named & { execution_id: string }>): Promise<Resumable> {
    demandSight(caller, params)
    const execution = await services.executions.of(params, caller)
    const { namespace, workflow_name: name } = params
    const isNewest = services.settings.executions.resume_version === 'newest'
    const version = await services
      .resolve(namespace, name, isNewest ? 0 : execution.workflow_version)
      .catch(ifNotFound)
    const run = `workflow:${namespace}:${name}:run`
    if (version) await demandRun({ caller, services }, version)
    else if (!may(caller, run)) throw denied([run])
    return { execution, version }
  },
})

/** Nothing, where there is nothing. */
export function ifNotFound(error: unknown): undefined {
  if (error instanceof Fault && error.kind === 'not_found') return undefined
  throw error
}

export interface Registrable {
  source: Buffer
  workflows: Workflow[]
}

export const mayRegister = rule({
  summary: 'workflow:<namespace>:*:register for every namespace in the file',
  for: 'people',
  asks: ['workflow:{namespace}:*:register'],
  async admit({ caller, services, body }: Asked<unknown>): Promise<Registrable> {
    const source = (await body()) as Buffer
    const { workflows } = await services.catalog.analyze({ source }, { timeoutMs: ANALYSIS_MS })
    for (const namespace of new Set(workflows.map((workflow) => workflow.namespace)))
      demand(caller, `workflow:${namespace}:*:register`)
    return { source, workflows }
  },
})

const ANALYSIS_MS = 30_000

/** Lists are for everybody; each sees what they may read. */
export const seesReadable = rule({
  summary: 'to be authenticated; workflows without workflow:<namespace>:<name>:read are left out',
  for: 'people',
  asks: [],
  admit: async ({ caller }: Asked<unknown>) => mayRead(caller),
})

const mayRead =
  (caller: Caller) =>
  ({ namespace, name }: Workflow): boolean =>
    may(caller, `workflow:${namespace}:${name}:read`)
