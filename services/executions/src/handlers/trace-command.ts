import type { Command } from '@windlass/proto/windlass/executions/v1/executions'
import {
  inSpanOf,
  linkTo,
  recordError,
  sampledParent,
  traceparentOf,
} from '@windlass/runtime/tracing/tracing'
import type { CommandResult } from '../engine/apply.ts'

/**
 * Applies a command in a span, with a link to the trace of the execution if that is another trace. `submit`
 * gets the command with the context that a new execution stores: of this span, or of the sender if this
 * process does not trace.
 */
export function traceCommand<Submitted extends { result: CommandResult }>(
  message: Command,
  submit: (traced: Command) => Promise<Submitted>,
): Promise<Submitted> {
  const { traceparent, execution_id, body } = message
  if (!traceparent) return submit(message)
  const attributes = { 'windlass.execution_id': execution_id }
  const options = { kind: 'server' as const, attributes }
  return inSpanOf(traceparent, `apply ${body?.$case}`, options, async (span) => {
    const context = traceparentOf(span) ?? (sampledParent(traceparent) && traceparent)
    const submitted = await submit({ ...message, traceparent: context })
    const { result } = submitted
    if ('fault' in result) recordError(span, result.fault)
    else linkTo(span, result.execution.traceparent)
    return submitted
  })
}
