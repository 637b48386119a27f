import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault } from '@windlass/runtime/faults'
import { missingToRun } from '@windlass/runtime/permissions'
import { type Caller, demand } from './caller.ts'
import { type Asked, rule } from './rule.ts'

export interface Named {
  namespace: string
  workflow_name: string
}

/** Everything that running it takes; those that are missing are all named. */
function demandRun(caller: Caller, workflow: Workflow): void {
  if (!caller.permissions) return
  const missing = missingToRun(caller.permissions, workflow)
  if (missing.length === 0) return
  throw new Fault('forbidden', 'Authorization denied', {
    details: { missing_permissions: missing },
  })
}

export const mayRun = rule({
  summary: 'workflow:{namespace}:{workflow_name}:run and whatever the workflow requires',
  for: 'people',
  async admit({ params, query, caller, services }: Asked<Named>): Promise<Workflow> {
    const { namespace, workflow_name: name } = params
    const workflow = await services.resolve(namespace, name, query.version ?? 0)
    demandRun(caller, workflow)
    return workflow
  },
})

export interface Resumable {
  execution: Execution
  /** The newest version, unless the workflow was deleted meanwhile. */
  newest: Workflow | undefined
}

export const mayResume = rule({
  summary: 'what running the workflow takes; the execution must be of this workflow',
  for: 'people',
  async admit({
    params,
    caller,
    services,
  }: Asked<Named & { execution_id: string }>): Promise<Resumable> {
    const execution = await services.executions.of(params)
    const { namespace, workflow_name: name } = params
    const newest = await services.resolve(namespace, name, 0).catch(ifNotFound)
    if (newest) demandRun(caller, newest)
    else demand(caller, `workflow:${namespace}:${name}:run`)
    return { execution, newest }
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
  async admit({ caller, services, body }: Asked<unknown>): Promise<Registrable> {
    const source = (await body()) as Buffer
    const { workflows } = await services.catalog.analyze({ source }, { timeoutMs: ANALYSIS_MS })
    for (const namespace of new Set(workflows.map((workflow) => workflow.namespace)))
      demand(caller, `workflow:${namespace}:*:register`)
    return { source, workflows }
  },
})

const ANALYSIS_MS = 30_000
