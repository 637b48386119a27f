import { toDurableMessage } from '@windlass/runtime/postgres/outbox'
import { recordSpans } from '@windlass/testkit/recorded-spans'
import { expect, test } from 'vitest'
import { eventually, everySeconds, request, schedulerFixture } from './scheduler-fixture.ts'

test('a tick: begins the trace of its execution, and the end of the execution is handled in it', async () => {
  const spans = recordSpans()
  const { replica, executions, bus } = await schedulerFixture()
  const made = await (await replica()).create(request({ config: everySeconds(1) }))
  await eventually(() => executions.submitted.length).toBeGreaterThan(0)
  await eventually(() => spans().length).toBeGreaterThan(0)
  const [command] = executions.submitted
  const [span] = spans()
  const { traceId, spanId } = span?.spanContext() ?? {}
  expect(span).toMatchObject({
    name: 'start tick',
    attributes: {
      'windlass.schedule_id': made.id,
      'windlass.execution_id': command?.execution_id,
      'windlass.nominal_time': made.next_run_at?.toISOString(),
      'windlass.attempt': 1,
    },
  })
  expect(command?.traceparent).toBe(`00-${traceId}-${spanId}-01`)

  const execution_id = command?.execution_id ?? ''
  const value = {
    execution_id,
    state: 'COMPLETED',
    workflow_namespace: 'team',
    workflow_name: 'report',
    schedule_id: made.id,
  }
  const body = { $case: 'execution_finished' as const, value }
  await bus.publishDurable([
    toDurableMessage('executions', execution_id, body, { traceparent: command?.traceparent }),
  ])
  const handled = () => spans().find(({ name }) => name === 'process execution_finished')
  await eventually(() => handled()?.parentSpanContext?.spanId).toBe(spanId)
})

test('ticks that are not sampled: start executions without a trace', async () => {
  const spans = recordSpans(0)
  const { replica, executions } = await schedulerFixture()
  await (await replica()).create(request({ config: everySeconds(1) }))
  await eventually(() => executions.submitted.length).toBeGreaterThan(0)
  expect(executions.submitted[0]?.traceparent).toBeUndefined()
  expect(spans()).toEqual([])
})

test('a tick that executions does not answer: its span is failed, and the repetition has one of its own', async () => {
  const spans = recordSpans()
  const { replica, executions } = await schedulerFixture()
  executions.script.mode = 'down'
  await (await replica()).create(request({ config: everySeconds(1) }))
  await eventually(() => spans().length).toBeGreaterThan(0)
  expect(spans()[0]).toMatchObject({
    status: { code: 2 },
    attributes: { 'error.type': 'unavailable' },
  })
  executions.script.mode = 'healthy'
  await eventually(() => spans().find(({ status }) => status.code === 0)?.attributes).toMatchObject(
    {
      'windlass.execution_id': spans()[0]?.attributes['windlass.execution_id'],
    },
  )
})
