import type { Command } from '@windlass/proto/windlass/executions/v1/executions'
import {
  currentTraceparent,
  inSpanOf,
  linkTo,
  recordError,
  sampledParent,
} from '@windlass/runtime/tracing/tracing'
import type { CommandResult } from '../engine/apply.ts'

/** Applies a command in a span, with a link to the trace of the execution if it belongs to another one. */
export function traceCommand<Submitted extends { result: CommandResult }>(
  { traceparent, execution_id, body }: Command,
  submit: () => Promise<Submitted>,
): Promise<Submitted> {
  if (!traceparent) return submit()
  const attributes = { 'windlass.execution_id': execution_id }
  const options = { kind: 'server' as const, attributes }
  return inSpanOf(traceparent, `apply ${body?.$case}`, options, async (span) => {
    const submitted = await submit()
    const { result } = submitted
    if ('fault' in result) recordError(span, result.fault)
    else linkTo(span, result.execution.traceparent)
    return submitted
  })
}

/** Context that a new execution keeps: the span of its command, or that of the sender. */
export const contextOf = ({ traceparent }: Command): string | undefined =>
  currentTraceparent() ?? (sampledParent(traceparent) && traceparent)
