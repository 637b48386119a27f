import type { Result } from '@windlass/proto/windlass/executions/v1/executions'
import { beginTrace, recordError, traceparentOf } from '@windlass/runtime/tracing/tracing'
import type { Firing } from '../store/ticks.ts'

/**
 * Begins the trace of starting a tick, for the configured fraction of the ticks; the execution that it
 * creates belongs to the trace. A repeated start has a trace of its own, which is linked to that of the
 * execution, if it has one.
 */
export function traceTick({ schedule_id, execution_id, nominal_at, attempts }: Firing) {
  const span = beginTrace('start tick', {
    kind: 'producer',
    attributes: {
      'windlass.schedule_id': schedule_id,
      'windlass.execution_id': execution_id,
      'windlass.nominal_time': nominal_at.toISOString(),
      'windlass.attempt': attempts + 1,
    },
  })
  return {
    /** Context of the create command; undefined unless this tick is traced. */
    traceparent: span && traceparentOf(span),
    /** Ends the span, with the refusal or the error of the call if there is one. */
    end(result: Result | undefined, error?: unknown) {
      if (result?.body?.$case === 'refusal')
        span?.setAttribute('error.type', result.body.value.kind)
      if (span && error !== undefined) recordError(span, error)
      span?.end()
    },
  }
}
