import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { type Caller, hasPermission } from './caller.ts'
import { mayReadExecution, type Deps as ReadDeps } from './execution.ts'
import { type AccessRequest, rule } from './rule.ts'
import { denied, type Resolves, requireRunPermission } from './workflow.ts'

export interface Repeatable {
  /** The original execution, with its input. */
  execution: Execution
  /** The version that the repetition runs. */
  workflow: Workflow
}

type Deps = ReadDeps & Resolves
type Request = AccessRequest<{ execution_id: string }>

/**
 * Returns an execution with the version to run again. Throws unless the caller may read the execution,
 * because its input becomes that of another one, and may run its workflow.
 */
export async function requireRepeatable(
  request: Request,
  deps: Deps,
  readVersion: () => Promise<number | undefined>,
): Promise<Repeatable> {
  const { params, caller } = request
  await mayReadExecution.authorize(request, deps)
  const execution = await deps.executions.get(params.execution_id)
  requireRun(caller, execution)
  const { workflow_namespace: namespace, workflow_name: name, workflow_version } = execution
  const version = (await readVersion()) ?? workflow_version
  const workflow = await deps.resolveWorkflow(namespace, name, version)
  await requireRunPermission(caller, workflow, deps)
  return { execution, workflow }
}

/** Before the body is read: a caller without the right learns nothing about it. */
function requireRun(caller: Caller, { workflow_namespace, workflow_name }: Execution): void {
  const run = `workflow:${workflow_namespace}:${workflow_name}:run`
  if (!hasPermission(caller, run)) throw denied([run])
}

export const mayRepeat = rule({
  summary:
    'permission to read the execution, as for `GET /executions/{execution_id}`, and the permissions to run its workflow',
  for: 'people',
  requiredPermissions: [
    'execution:{execution_id}:read',
    'workflow:{namespace}:{workflow_name}:run',
  ],
  namespacePermissions: [
    'execution:{namespace}:{workflow_name}:read',
    'workflow:{namespace}:{workflow_name}:run',
  ],
  authorize: (request: Request, deps: Deps): Promise<Repeatable> =>
    requireRepeatable(request, deps, async () => {
      const body = (await request.body()) as { version?: number } | undefined
      return body?.version
    }),
})

export const mayReadBoth = rule({
  summary: 'permission to read both executions, as for `GET /executions/{execution_id}`',
  for: 'people',
  requiredPermissions: mayReadExecution.requiredPermissions,
  namespacePermissions: mayReadExecution.namespacePermissions ?? [],
  async authorize(
    request: AccessRequest<{ execution_id: string; other_id: string }>,
    deps: ReadDeps,
  ): Promise<void> {
    await mayReadExecution.authorize(request, deps)
    const { other_id: execution_id } = request.params
    await mayReadExecution.authorize({ ...request, params: { execution_id } }, deps)
  },
})
