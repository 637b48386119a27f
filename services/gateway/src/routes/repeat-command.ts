import { declaredPriority } from '@windlass/domain/permissions'
import { DEFAULT_PRIORITY } from '@windlass/domain/priority'
import type { HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import type { RpcClient } from '@windlass/rpc/client'
import { Fault, type Problem, unprocessable } from '@windlass/runtime/faults'
import { type Caller, toPrincipal } from '../access/caller.ts'
import type { Repeatable } from '../access/repeat.ts'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { InputValidator } from '../route/body-parser.ts'
import { findTags } from './find-tags.ts'
import { resolveIdempotencyKey } from './idempotency.ts'

export type RepeatDeps = {
  executions: ExecutionsClient
  history: RpcClient<typeof HistoryService>
  inputSchemas: InputValidator
}

export interface Repeat extends Repeatable {
  ctx: Pick<RequestContext, 'header'>
  caller: Caller
  /** Absent: that of the origin. */
  input_json: string | undefined
  /** Tags of the origin, if they are known. */
  tags?: Record<string, string>
  /** Level in the queue; absent: that of the workflow, else DEFAULT_PRIORITY. */
  priority?: number | undefined
  /** Action and its target, for the hash under an Idempotency-Key. */
  action: readonly string[]
}

/** Checks the input against the schema of the version. The refusal names the member of the body. */
export async function checkInput(
  { inputSchemas }: RepeatDeps,
  { execution, workflow, input_json }: Omit<Repeat, 'action'>,
): Promise<void> {
  try {
    await inputSchemas.check(workflow, input_json ?? execution.input_json)
  } catch (error) {
    throw error instanceof Fault ? withinInput(error) : error
  }
}

function withinInput(fault: Fault): Fault {
  const [first, ...more] = ((fault.details?.problems ?? []) as Problem[]).map((problem) => ({
    ...problem,
    loc: ['body', 'input', ...problem.loc.slice(1)],
  }))
  return first ? unprocessable(first, ...more) : fault
}

/** Returns the create of a repeated execution, with the tags of its origin, started by the caller. */
export async function createOf(
  deps: RepeatDeps,
  { ctx, caller, execution, workflow, ...repeat }: Repeat,
) {
  const { input_json = execution.input_json, action } = repeat
  const body = JSON.stringify([...action, workflow.version, repeat.input_json])
  const { executions } = deps
  const key = await resolveIdempotencyKey(ctx, { workflow, caller, body, executions })
  const value = {
    workflow_id: workflow.id,
    workflow_namespace: workflow.namespace,
    workflow_name: workflow.name,
    workflow_version: workflow.version,
    input_json,
    requirement: workflow.requirement,
    preferred_worker: '',
    caller: executions.signCaller(toPrincipal(caller)),
    schedule_id: '',
    request_hash: key.request_hash,
    reply_to: '',
    depth: 0,
    parent_id: '',
    cancel_with_parent: false,
    tags: repeat.tags ?? (await findTags(deps, execution)),
    priority: repeat.priority ?? declaredPriority(workflow) ?? DEFAULT_PRIORITY,
    origin_id: execution.execution_id,
  }
  return { execution_id: key.execution_id, value }
}
