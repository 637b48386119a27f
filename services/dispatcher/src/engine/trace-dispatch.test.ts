import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import { expect, test } from 'vitest'
import { dispatchSpanId, traceDispatch } from './trace-dispatch.ts'

const TRACEPARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

const lease = (traceparent: string | undefined) => ({
  execution: {
    execution_id: 'e1',
    traceparent,
    worker_name: 'w',
    claim_generation: 1,
  } as Execution,
  log: [{ seq: 1, type: 'WORKFLOW_SCHEDULED' } as LogEntry],
  resumed: false,
  execution_token: '',
})

test.each([undefined, TRACEPARENT])(
  'a dispatcher that does not trace: passes the context %s of the execution on',
  (traceparent) => {
    const trace = traceDispatch(lease(traceparent))
    expect(trace.traceparent).toBe(traceparent)
    trace.end()
  },
)

test('span of a dispatch: an id of its own for each lease of each execution, the same everywhere', () => {
  const ids = [dispatchSpanId('e1', 1), dispatchSpanId('e1', 2), dispatchSpanId('e2', 1)]
  expect(new Set(ids).size).toBe(3)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/)
  expect(dispatchSpanId('e1', 1)).toBe(ids[0])
})
