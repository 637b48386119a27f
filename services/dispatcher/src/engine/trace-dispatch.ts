import { createHash } from 'node:crypto'
import type { Execution, Lease } from '@windlass/proto/windlass/executions/v1/executions'
import { startSpanOf, traceparentOf } from '@windlass/runtime/tracing/tracing'

const SCHEDULED: ReadonlySet<string> = new Set(['WORKFLOW_SCHEDULED', 'WORKFLOW_RESUME_SCHEDULED'])

/** Id of the span of a dispatch: 16 hex digits, derived from the log entry of its lease. */
export const dispatchSpanId = (execution_id: string, seq: number): string =>
  createHash('sha256').update(`${execution_id} ${seq}`).digest('hex').slice(0, 16)

/**
 * Starts the span of one dispatch of a traced execution. Each dispatch is linked to the one before, also
 * after a pause, a park or the loss of a worker. The id is derived from the log, so any dispatcher that
 * sends the next one knows it, and nothing is stored. Returns the context for the worker and a function
 * that ends the span.
 */
export function traceDispatch({ execution, log }: Lease & { execution: Execution }): {
  traceparent: string | undefined
  end(): void
} {
  const { execution_id, traceparent, worker_name, claim_generation } = execution
  if (!traceparent) return UNTRACED
  const leases = log.filter(({ type }) => SCHEDULED.has(type)).map(({ seq }) => seq)
  const [previous, latest = 0] = [leases.at(-2), leases.at(-1)]
  const span = startSpanOf(traceparent, 'dispatch', {
    kind: 'producer',
    spanId: dispatchSpanId(execution_id, latest),
    linkedIds: previous === undefined ? [] : [dispatchSpanId(execution_id, previous)],
    attributes: {
      'windlass.execution_id': execution_id,
      'windlass.worker': worker_name,
      'windlass.claim_generation': claim_generation,
    },
  })
  return span
    ? { traceparent: traceparentOf(span), end: () => span.end() }
    : { ...UNTRACED, traceparent }
}

const UNTRACED = { traceparent: undefined, end: () => {} }
