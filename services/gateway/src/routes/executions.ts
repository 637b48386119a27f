import { objects } from '@windlass/domain/audit'
import { isTerminal } from '@windlass/domain/states'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { invalid } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import { getInWorkflow } from '../access/execution-in-workflow.ts'
import type { Quotas } from '../access/quotas.ts'
import type { Caches } from '../cache/create-caches.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type EventStreamDeps, eventStream, lastEventId } from '../live/event-stream.ts'
import { changeAndWait } from '../live/wait-until-settled.ts'
import { flag, integer } from '../route/fields.ts'
import { EventStream } from '../route/media.ts'
import { route } from '../route/route.ts'
import { type ListDeps, listView, viewFor, viewOf } from './responses.ts'
import { ExecutionList, ExecutionView } from './schemas.ts'
import { searchOf, searchQuery, workflowQuery } from './search-query.ts'

type Deps = EventStreamDeps & ListDeps & Pick<Caches, 'resolveWorkflow'> & { quotas: Quotas }

const detailed = flag.default(false)

const linesQuery = {
  /** Also sends what the code wrote with print and logging, as frames `log_line`. */
  logs: flag.default(false),
  /** Lines with a greater `seq`: with `logs`, what a reader that reconnects has not got yet. */
  logs_after: integer({ min: 0 }).default(0),
}

interface Follow {
  query: { detailed: boolean; logs: boolean; logs_after: number }
  caller: Caller
  ctx: RequestContext
}

/** Event stream of an execution, from Last-Event-ID on. */
function streamOf(deps: Deps, execution: Execution, { query, caller, ctx }: Follow) {
  const { execution_id, workflow_namespace } = execution
  const afterSeq = lastEventId(ctx)
  const onEnd = deps.quotas.takeStream(caller, workflow_namespace)
  return eventStream(deps, {
    ...{ execution_id, afterSeq, onEnd, caller },
    linesAfter: query.logs ? query.logs_after : undefined,
    ...{ detailed: query.detailed, mayReadLog: () => true },
  })
}

export const listExecutions = route('get', '/executions', {
  summary: 'List executions, newest first',
  isExpensive: true,
  isShared: true,
  access: 'may list executions',
  query: { ...workflowQuery, ...searchQuery },
  returns: ExecutionList,
  handle: async ({ query, resolved: visible }, deps: Deps) =>
    listView(deps, visible, searchOf(query)),
})

export const listWorkflowExecutions = route(
  'get',
  '/workflows/{namespace}/{workflow_name}/executions',
  {
    summary: 'List the executions of a workflow, newest first',
    isExpensive: true,
    access: 'workflow:{namespace}:{workflow_name}:read',
    query: searchQuery,
    returns: ExecutionList,
    async handle({ params, query }, deps: Deps) {
      const search = searchOf({
        ...query,
        namespace: params.namespace,
        workflow_name: params.workflow_name,
      })
      const { namespace, name } = await deps.resolveWorkflow(
        params.namespace,
        params.workflow_name,
        0,
      )
      // The access rule permits only this workflow.
      const visible = { kind: 'only' as const, workflows: [{ namespace, name }], ids: [] }
      return listView(deps, visible, search)
    },
  },
)

export const getExecution = route('get', '/executions/{execution_id}', {
  summary: 'Show an execution, or follow it with mode=stream',
  access: 'may read execution',
  query: {
    detailed,
    mode: z.string().default('sync'),
    /** With `omit` input and output are null; GET /executions/{id}/input and so on have them. Without `detailed` only. */
    payloads: z.enum(['full', 'omit']).default('full'),
    ...linesQuery,
  },
  returns: ExecutionView,
  streams: true,
  async handle({ params: { execution_id }, query, caller, ctx }, deps: Deps) {
    if (query.mode !== 'sync' && query.mode !== 'stream')
      throw invalid("Invalid mode. Use 'sync' or 'stream'.")
    const { executions } = deps
    const isWhole = query.payloads === 'full' && query.mode === 'sync'
    const execution = await (isWhole
      ? executions.get(execution_id)
      : executions.getHead(execution_id))
    if (query.mode === 'sync') return viewOf(deps, { query, caller, ctx }, execution)
    return streamOf(deps, execution, { query, caller, ctx })
  },
})

export const followExecution = route('get', '/executions/{execution_id}/events', {
  summary: 'Follow an execution from the beginning of its log, or from Last-Event-ID',
  access: 'may read execution',
  query: { detailed, ...linesQuery },
  returns: EventStream,
  async handle({ params: { execution_id }, query, caller, ctx }, deps: Deps) {
    const execution = await deps.executions.getHead(execution_id)
    return streamOf(deps, execution, { query, caller, ctx })
  },
})

export const getStatus = route(
  'get',
  '/workflows/{namespace}/{workflow_name}/status/{execution_id}',
  {
    summary: 'Show an execution of a workflow',
    access: 'workflow:{namespace}:{workflow_name}:read',
    raw: true,
    query: { detailed },
    returns: ExecutionView,
    handle: async ({ params, query, caller, ctx }, deps: Deps) =>
      viewOf(deps, { query, caller, ctx }, await getInWorkflow(deps.executions, params, caller)),
  },
)

export const cancelExecution = route(
  'get',
  '/workflows/{namespace}/{workflow_name}/cancel/{execution_id}',
  {
    summary: 'Cancel an execution',
    waits: true,
    access: 'workflow:{namespace}:{workflow_name}:run',
    query: { detailed, mode: z.string().default('async') },
    returns: ExecutionView,
    audit: {
      action: 'execution.cancel',
      object: ({ params }) => objects.execution(params.execution_id),
      recorded: 'around',
    },
    async handle(input, deps: Deps) {
      const { params, query, caller, ctx } = input
      const mode = query.mode === '' ? 'async' : query.mode
      if (mode !== 'async' && mode !== 'sync') throw invalid("Invalid mode. Use 'sync', 'async'.")
      const { execution_id } = await getInWorkflow(deps.executions, params, caller)
      const change = () =>
        deps.executions.submit({
          execution_id,
          traceparent: ctx.traceparent,
          with_log: false,
          body: { $case: 'cancel', value: { request_id: newId() } },
        })
      const { signal } = ctx
      const execution =
        mode === 'async'
          ? (await change()).execution
          : await changeAndWait(deps, {
              execution_id,
              change,
              isDone: isTerminal,
              timeoutMs: undefined,
              signal,
            })
      // The caller as of the last check: permission to read may have ended during the wait.
      return viewFor(deps, input, execution)
    },
  },
)
