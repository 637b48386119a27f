import { isTerminal } from '@windlass/domain/states'
import type { Command, Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import { mayReadLog } from '../access/execution.ts'
import type { Quotas } from '../access/quotas.ts'
import { detailed, summary } from '../domain/views.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type EventStreamDeps, eventStream, type StreamRequest } from '../live/event-stream.ts'
import { changeAndWait } from '../live/wait-until-settled.ts'
import { flag, oneOf, seconds } from '../route/fields.ts'
import { viewOf } from './responses.ts'

export type AnswerDeps = EventStreamDeps & { quotas: Quotas }

export const mode = oneOf(
  ['sync', 'async', 'stream'],
  "Invalid mode. Use 'sync', 'async', or 'stream'.",
)

export const waitQuery = {
  detailed: flag.default(false),
  wait_for: z.literal('paused').optional(),
  timeout: seconds.optional(),
}

interface Change {
  /** The request. Its caller is replaced whenever it is authorized again. */
  input: {
    params: { mode: 'sync' | 'async' | 'stream' }
    query: { detailed: boolean; wait_for?: 'paused' | undefined; timeout?: number | undefined }
    caller: Caller
    ctx: RequestContext
  }
  execution: Pick<Execution, 'execution_id' | 'workflow_namespace' | 'workflow_name'>
  change: NonNullable<Command['body']>
  stream: Pick<StreamRequest, 'afterSeq' | 'first'>
}

/**
 * Starts or resumes an execution and answers in the mode of the request. The log is shown while the
 * caller may read it: permission to run does not include that, and it may end during the request.
 */
export async function changeAndAnswer(deps: AnswerDeps, changing: Change) {
  const { input, execution, change, stream } = changing
  const { execution_id, workflow_namespace } = execution
  const { params, query, ctx } = input
  const { mode } = params
  const hasLog = () => mayReadLog(input.caller, execution)
  const isDetailed = () => query.detailed && hasLog()
  const with_log = mode === 'async' && isDetailed()
  const command = { execution_id, with_log, body: change, traceparent: ctx.traceparent }

  const { takeWait, takeStream } = deps.quotas
  const take = { sync: takeWait, stream: takeStream, async: undefined }[mode]
  const release = take?.(input.caller, workflow_namespace) ?? (() => {})
  const nameExecution = () => ctx.responseHeaders.push('x-svc-execution-id', execution_id)
  try {
    if (mode === 'sync') {
      const settled = await submitAndWait(deps, command, input).finally(release)
      nameExecution()
      const reader = { query: { detailed: isDetailed() }, caller: input.caller, ctx }
      return await viewOf(deps, reader, settled)
    }
    const { execution: changed, log } = await deps.executions.submit(command)
    nameExecution()
    if (mode === 'async') return isDetailed() ? detailed(changed, log) : summary(changed)
  } catch (error) {
    release()
    throw error
  }
  return eventStream(deps, {
    ...{ ...stream, execution_id, onEnd: release, caller: input.caller },
    ...{ detailed: query.detailed, mayReadLog: hasLog },
  })
}

/** Submits the change; resolves once the execution is terminal, or when the query says. */
const submitAndWait = (
  deps: AnswerDeps,
  command: Command,
  { query: { wait_for, timeout }, ctx }: Change['input'],
): Promise<Execution> =>
  changeAndWait(deps, {
    execution_id: command.execution_id,
    // The request holds no body while it waits.
    change: () => deps.executions.submit(command).finally(() => ctx.bodyReservation?.release()),
    isDone: (state) => isTerminal(state) || (state === 'PAUSED' && wait_for === 'paused'),
    timeoutMs: timeout === undefined ? undefined : timeout * 1_000,
    signal: ctx.signal,
  })
