import { objects } from '@windlass/domain/audit'
import { isTerminal } from '@windlass/domain/states'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Command } from '@windlass/proto/windlass/executions/v1/executions'
import { newId } from '@windlass/runtime/ids'
import { z } from 'zod'
import { type Caller, toPrincipal } from '../access/caller.ts'
import { mayReadLog } from '../access/execution.ts'
import type { Quotas } from '../access/quotas.ts'
import { firstFrame } from '../domain/frames.ts'
import { detailed, summary } from '../domain/views.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type EventStreamDeps, eventStream } from '../live/event-stream.ts'
import { changeAndWait } from '../live/wait-until-settled.ts'
import { anyJson } from '../route/body.ts'
import type { InputValidator } from '../route/body-parser.ts'
import { flag, oneOf, seconds, versionQuery } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { resolveIdempotencyKey } from './idempotency.ts'
import { nestingOf } from './nesting.ts'
import { viewOf } from './responses.ts'
import { ExecutionView } from './schemas.ts'

type Deps = EventStreamDeps & { inputSchemas: InputValidator; quotas: Quotas }

const mode = oneOf(['sync', 'async', 'stream'], "Invalid mode. Use 'sync', 'async', or 'stream'.")

const waiting = {
  detailed: flag.default(false),
  wait_for: z.literal('paused').optional(),
  timeout: seconds.optional(),
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
  query: { ...waiting, version: versionQuery },
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
  async handle({ params, query, body, resolved: workflow, caller, ctx }, deps: Deps) {
    await deps.inputSchemas.check(workflow, body)
    const { execution_id, request_hash } = await resolveIdempotencyKey(ctx, {
      workflow,
      caller,
      body,
      executions: deps.executions,
    })
    ctx.executionId = execution_id
    const hasLog = mayReadLog(caller, { execution_id, ...identityOf(workflow) })
    const isDetailed = query.detailed && hasLog
    const command: Command = {
      execution_id,
      with_log: params.mode === 'async' && isDetailed,
      body: {
        $case: 'create',
        value: {
          ...identityOf(workflow),
          input_json: body,
          requirement: workflow.requirement,
          preferred_worker: preferredWorker(ctx),
          caller: deps.executions.signCaller(toPrincipal(caller)),
          schedule_id: '',
          request_hash,
          depth: nestingOf(caller, deps.quotas.limits),
        },
      },
    }
    const held = takeQuota(deps.quotas, { caller, ...params })
    if (params.mode === 'sync') return settled(deps, { command, query, isDetailed, ctx, held })
    const { execution, log } = await held.during(() => deps.executions.submit(command))
    nameExecution(ctx, execution_id)
    if (params.mode === 'async') return isDetailed ? detailed(execution, log) : summary(execution)
    return eventStream(deps, {
      ...{ execution_id, afterSeq: 0, first: firstFrame(execution_id), onEnd: held.release },
      ...{ detailed: isDetailed, hasValues: hasLog },
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
    query: waiting,
    body: anyJson,
    returns: ExecutionView,
    streams: true,
    audit: {
      level: 'runs',
      action: 'execution.resume',
      object: ({ params }) => objects.execution(params.execution_id),
      recorded: 'eventually',
    },
    async handle({ params, query, body, resolved, caller, ctx }, deps: Deps) {
      const { execution_id, last_seq } = resolved.execution
      const hasLog = mayReadLog(caller, resolved.execution)
      const isDetailed = query.detailed && hasLog
      const isNewest = deps.settings.executions.resume_version === 'newest'
      const command: Command = {
        execution_id,
        with_log: params.mode === 'async' && isDetailed,
        body: {
          $case: 'resume',
          value: {
            body_json: body,
            request_id: newId(),
            target: isNewest ? targetOf(resolved.version) : undefined,
          },
        },
      }
      const held = takeQuota(deps.quotas, { caller, ...params })
      if (params.mode === 'sync') return settled(deps, { command, query, isDetailed, ctx, held })
      const { execution, log } = await held.during(() => deps.executions.submit(command))
      nameExecution(ctx, execution_id)
      if (params.mode === 'async') return isDetailed ? detailed(execution, log) : summary(execution)
      return eventStream(deps, {
        ...{ execution_id, afterSeq: last_seq, onEnd: held.release },
        ...{ detailed: isDetailed, hasValues: hasLog },
      })
    },
  },
)

interface Sync {
  command: Command
  query: { wait_for?: 'paused'; timeout?: number }
  isDetailed: boolean
  ctx: RequestContext
  held: HeldRun
}

/** Makes the change; resolves once the execution is terminal, or as the query says. */
async function settled(deps: Deps, { command, query, isDetailed, ctx, held }: Sync) {
  const { wait_for, timeout } = query
  const execution = await changeAndWait(deps, {
    execution_id: command.execution_id,
    // While it waits, the request holds no body.
    change: () => deps.executions.submit(command).finally(() => ctx.bodyReservation?.release()),
    isDone: (state) => isTerminal(state) || (state === 'PAUSED' && wait_for === 'paused'),
    timeoutMs: timeout === undefined ? undefined : timeout * 1_000,
    signal: ctx.signal,
  }).finally(held.release)
  nameExecution(ctx, command.execution_id)
  return viewOf(deps.executions, execution, isDetailed)
}

interface HeldRun {
  release(): void
  /** Releases if the change fails: then there is no stream that would. */
  during<T>(change: () => Promise<T>): Promise<T>
}

interface RunOfCaller {
  mode: 'sync' | 'async' | 'stream'
  caller: Caller
  namespace: string
}

/** Counts a run that will wait or stream; throws above the quota, before anything is changed. */
function takeQuota(quotas: Quotas, { mode, caller, namespace }: RunOfCaller): HeldRun {
  const take = { sync: quotas.takeWait, stream: quotas.takeStream, async: undefined }[mode]
  const release = take?.(caller, namespace) ?? (() => {})
  const onFailure = (error: unknown): never => {
    release()
    throw error
  }
  return { release, during: (change) => change().catch(onFailure) }
}

const nameExecution = (ctx: RequestContext, execution_id: string) =>
  void ctx.responseHeaders.push('x-svc-execution-id', execution_id)

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
