import { type FindLatest, missingPermissionsToRun } from '@windlass/domain/permissions'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import { undefinedIfNotFound } from '@windlass/runtime/undefined-if-not-found'
import type { Caches } from '../cache/create-caches.ts'
import type { Clients } from '../clients/connect.ts'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import { mayRegisterSomewhere } from '../domain/permissions.ts'
import {
  type Caller,
  hasPermission,
  onBehalfOf,
  permissionDenied,
  requirePermission,
} from './caller.ts'
import { getInWorkflow } from './execution-in-workflow.ts'
import { type AccessRequest, rule } from './rule.ts'

export type Resolves = Pick<Caches, 'resolveWorkflow'>

export interface ResumeDeps extends Resolves {
  executions: ExecutionsClient
  settings: Settings
}

export interface WorkflowRef {
  namespace: string
  workflow_name: string
}

export const denied = (missing_permissions: string[]) =>
  new Fault('forbidden', 'Authorization denied', { details: { missing_permissions } })

/** Requires every permission that a run needs; the refusal names all missing ones. */
export async function requireRunPermission(
  caller: Caller,
  workflow: Workflow,
  deps: Resolves,
): Promise<void> {
  const missing = await missingPermissionsToRun(caller.permissions, workflow, findLatestOf(deps))
  if (missing.length > 0) throw denied(missing)
}

/** Refuses a caller that may neither read nor run a workflow, without disclosing whether it exists. */
function requireVisibility(caller: Caller, { namespace, workflow_name: name }: WorkflowRef): void {
  const run = `workflow:${namespace}:${name}:run`
  if (!hasPermission(caller, run) && !hasPermission(caller, `workflow:${namespace}:${name}:read`))
    throw denied([run])
}

export const findLatestOf =
  ({ resolveWorkflow }: Resolves): FindLatest =>
  (namespace, name) =>
    resolveWorkflow(namespace, name, 0).catch(undefinedIfNotFound)

export const mayRun = rule({
  summary:
    'workflow:{namespace}:{workflow_name}:run and the permissions that the workflow requires; for nested runs an execution token, and the same permissions of the starter of the execution',
  for: 'people',
  acceptsExecutionTokens: 'all',
  requiredPermissions: ['workflow:{namespace}:{workflow_name}:run'],
  async authorize(
    { params, query, caller }: AccessRequest<WorkflowRef>,
    deps: Resolves,
  ): Promise<Workflow> {
    requireVisibility(caller, params)
    const { namespace, workflow_name: name } = params
    const workflow = await deps.resolveWorkflow(namespace, name, query.version ?? 0)
    await requireRunPermission(caller, workflow, deps)
    return workflow
  },
})

export interface Resumable {
  execution: Execution
  /** The version that the execution resumes with, unless it was deleted meanwhile. */
  version: Workflow | undefined
}

export const mayResume = rule({
  summary: 'the permissions to run the workflow; the execution must be of this workflow',
  for: 'people',
  requiredPermissions: ['workflow:{namespace}:{workflow_name}:run'],
  async authorize(
    { params, caller }: AccessRequest<WorkflowRef & { execution_id: string }>,
    deps: ResumeDeps,
  ): Promise<Resumable> {
    requireVisibility(caller, params)
    const execution = await getInWorkflow(deps.executions, params, caller)
    const { namespace, workflow_name: name } = params
    const isNewest = deps.settings.executions.resume_version === 'newest'
    const version = await deps
      .resolveWorkflow(namespace, name, isNewest ? 0 : execution.workflow_version)
      .catch(undefinedIfNotFound)
    const run = `workflow:${namespace}:${name}:run`
    if (version) await requireRunPermission(caller, version, deps)
    else if (!hasPermission(caller, run)) throw denied([run])
    return { execution, version }
  },
})

export interface Registrable {
  source: Buffer
  workflows: Workflow[]
}

export const mayRegister = rule({
  summary: 'workflow:<namespace>:*:register for every namespace in the file',
  for: 'people',
  requiredPermissions: ['workflow:{namespace}:*:register'],
  async authorize(
    { ctx, caller, body }: AccessRequest<unknown>,
    { catalog }: Pick<Clients, 'catalog'>,
  ): Promise<Registrable> {
    if (!mayRegisterSomewhere(caller.permissions))
      throw permissionDenied(`workflow:${await namespaceToName(body)}:*:register`)
    const source = (await body()) as Buffer
    // Principals take turns in the analysis.
    const options = { ...onBehalfOf(ctx, caller), timeoutMs: ANALYSIS_MS }
    const { workflows } = await catalog.analyze({ source }, options)
    for (const namespace of new Set(workflows.map((workflow) => workflow.namespace)))
      requirePermission(caller, `workflow:${namespace}:*:register`)
    return { source, workflows }
  },
})

const ANALYSIS_MS = 30_000
const NAMESPACE = /\bnamespace\s*=\s*['"]([a-z0-9][a-z0-9_-]{0,63})['"]/

/**
 * Returns the namespace that the refusal of an upload names: the first one in the text of the source, which is
 * not analysed. The lack of the permission comes before every fault of the body, such as its size.
 */
async function namespaceToName(body: AccessRequest<unknown>['body']): Promise<string> {
  const source = await body().catch(() => '')
  return NAMESPACE.exec(String(source))?.[1] ?? 'default'
}

/** Lists are open to every caller and show what it may read. */
export const listReadable = rule({
  summary: 'authenticated; workflows without workflow:<namespace>:<name>:read are left out',
  for: 'people',
  isFiltered: true,
  requiredPermissions: [],
  authorize: async ({ caller }: AccessRequest<unknown>) => mayRead(caller),
})

const mayRead =
  (caller: Caller) =>
  ({ namespace, name }: Workflow): boolean =>
    hasPermission(caller, `workflow:${namespace}:${name}:read`)
