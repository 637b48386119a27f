import { objects } from '@windlass/domain/audit'
import { declaredPriority, declaredTags } from '@windlass/domain/permissions'
import { DEFAULT_PRIORITY, SYNC_PRIORITY } from '@windlass/domain/priority'
import { problemOfTags, type Tags } from '@windlass/domain/tags'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { unprocessable } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import { z } from 'zod'
import { toPrincipal } from '../access/caller.ts'
import { firstFrame } from '../domain/frames.ts'
import type { RequestContext } from '../http/request-context.ts'
import { anyJson } from '../route/body.ts'
import type { InputValidator } from '../route/body-parser.ts'
import { priorityQuery, tags, versionQuery } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { type AnswerDeps, changeAndAnswer, mode, waitQuery } from './change-and-answer.ts'
import { resolveIdempotencyKey } from './idempotency.ts'
import { nestingOf } from './nesting.ts'
import { ExecutionView } from './schemas.ts'

type Deps = AnswerDeps & { inputSchemas: InputValidator }

const onCancelQuery = z
  .enum(['cancel', 'leave'])
  .optional()
  .describe('Effect of a cancel of the parent on a nested run; by default, the run continues')

const priority = priorityQuery(
  `Level in the queue. Default: that of the workflow, else ${SYNC_PRIORITY} for sync and ${DEFAULT_PRIORITY} otherwise`,
)

const defaultPriority = (mode: 'sync' | 'async' | 'stream') =>
  mode === 'sync' ? SYNC_PRIORITY : DEFAULT_PRIORITY

/** The tags that the workflow declares and those of the request, which take precedence. */
function tagsOf(workflow: Workflow, given: Tags): Tags {
  const all = { ...declaredTags(workflow), ...given }
  const problem = problemOfTags(all)
  if (problem === undefined) return all
  const msg = `${problem} Those that the workflow declares count.`
  throw unprocessable({ loc: ['query', 'tags'], msg, type: 'value_error' })
}

/**
 * Starts an execution. `sync` answers when it is terminal (or paused, with `wait_for=paused`), `async`
 * after the commit, `stream` with its events. The create is safe to repeat: its id is chosen here.
 */
export const runWorkflow = route('post', '/workflows/{namespace}/{workflow_name}/run/{mode}', {
  summary: 'Run a workflow',
  waits: true,
  access: 'may run',
  raw: true,
  params: { mode },
  query: { ...waitQuery, version: versionQuery, on_cancel: onCancelQuery, tags, priority },
  body: anyJson,
  returns: ExecutionView,
  streams: true,
  audit: {
    level: 'runs',
    action: 'execution.run',
    object: ({ params }) => objects.workflow(params.namespace, params.workflow_name),
    detail: ({ resolved, ctx }) => ({
      ...{ execution_id: ctx.executionId, workflow_version: resolved?.version },
    }),
    recorded: 'eventually',
  },
  async handle(input, deps: Deps) {
    const { params, query, body, resolved: workflow, caller, ctx } = input
    const depth = nestingOf(caller, deps.quotas.limits)
    await deps.inputSchemas.check(workflow, body)
    const { execution_id, request_hash } = await resolveIdempotencyKey(ctx, {
      workflow,
      caller,
      body,
      executions: deps.executions,
    })
    ctx.executionId = execution_id
    const create = {
      ...identityOf(workflow),
      input_json: body,
      requirement: workflow.requirement,
      preferred_worker: preferredWorker(ctx),
      caller: deps.executions.signCaller(toPrincipal(caller)),
      schedule_id: '',
      request_hash,
      reply_to: params.mode === 'sync' ? deps.subscriptions.replies.name : '',
      depth,
      parent_id: caller.execution?.exec_id ?? '',
      cancel_with_parent: caller.execution !== undefined && query.on_cancel === 'cancel',
      tags: tagsOf(workflow, query.tags),
      priority: query.priority ?? declaredPriority(workflow) ?? defaultPriority(params.mode),
    }
    return changeAndAnswer(deps, {
      input,
      execution: { execution_id, ...identityOf(workflow) },
      change: { $case: 'create', value: create },
      stream: { afterSeq: 0, first: firstFrame(execution_id) },
    })
  },
})

/** Resumes a paused execution with the body as its answer; modes as for `runWorkflow`. */
export const resumeWorkflow = route(
  'post',
  '/workflows/{namespace}/{workflow_name}/resume/{execution_id}/{mode}',
  {
    summary: 'Resume a paused execution',
    waits: true,
    access: 'may resume',
    params: { mode },
    query: waitQuery,
    body: anyJson,
    returns: ExecutionView,
    streams: true,
    audit: {
      level: 'runs',
      action: 'execution.resume',
      object: ({ params }) => objects.execution(params.execution_id),
      recorded: 'eventually',
    },
    async handle(input, deps: Deps) {
      const { execution, version } = input.resolved
      const isNewest = deps.settings.executions.resume_version === 'newest'
      const target = isNewest ? targetOf(version) : undefined
      const resume = { body_json: input.body, request_id: newId(), target }
      return changeAndAnswer(deps, {
        input,
        execution,
        change: { $case: 'resume', value: resume },
        stream: { afterSeq: execution.last_seq },
      })
    },
  },
)

const identityOf = ({ id, namespace, name, version }: Workflow) => ({
  workflow_id: id,
  workflow_namespace: namespace,
  workflow_name: name,
  workflow_version: version,
})

const targetOf = (workflow: Workflow | undefined) =>
  workflow && {
    workflow_id: workflow.id,
    workflow_version: workflow.version,
    requirement: workflow.requirement,
  }

const MAX_PREFERENCE_LENGTH = 256

/** A preference only: a value that cannot be a worker name is ignored. */
function preferredWorker(ctx: RequestContext): string {
  const preferred =
    ctx.header('x-svc-preferred-worker') ?? ctx.header('x-flux-preferred-worker') ?? ''
  const name = preferred.trim()
  return name.length > MAX_PREFERENCE_LENGTH ? '' : name
}
