import { expect, test } from 'vitest'
import { decisionContext, inState, limits } from '../../test/execution-samples.ts'
import type { Execution, PendingEvent } from '../domain/execution.ts'
import { isHandedOver } from '../domain/hand-over.ts'
import { type Command, decide } from './command.ts'

const running: Execution = { ...inState('RUNNING'), attempts: 1 }
const { held_by: holder = '', claim_generation: generation } = running
const cancelling: Execution = {
  ...running,
  state: 'CANCELLING',
  continuable_generation: generation,
}
const offer = { worker_name: 'b', session_id: 't', connection_generation: 1 }
const died = (held_by: string) =>
  ({ kind: 'lose', held_by, upToConnection: 9, loss: 'died' }) as const

const decided = (
  execution: Execution,
  command: Exclude<Command, { kind: 'create' }>,
  of = limits,
) => decide(execution, command, decisionContext({ limits: of, isDue: command.kind === 'expire' }))
const apply = (...of: Parameters<typeof decided>) => decided(...of).next

const lease = (execution: Execution, continues_cancelled = true) =>
  decided(execution, { kind: 'lease', offer: { ...offer, continues_cancelled }, capacity: 0 })

test('a cancelled execution whose worker dies: waits for another worker until the same deadline', () => {
  const { next, events, deadlineMs } = decided(cancelling, died(holder))
  expect(isHandedOver(next)).toBe(true)
  expect(next).toMatchObject({ state: 'CANCELLING', passed_over: holder, queued: false })
  expect(next.claim_generation).toBe(generation + 1)
  expect([events, deadlineMs]).toEqual([[], 'kept'])
})

test('a release by the worker, also as crashed: hands a cancelled execution over', () => {
  const of = { worker_name: holder, session_id: 's', claim_generation: generation }
  for (const crashed of [true, false])
    expect(isHandedOver(apply(cancelling, { kind: 'release', holder: of, crashed }))).toBe(true)
})

test.each([
  ['its worker did not announce the feature', { continuable_generation: undefined }],
  ['only an earlier lease did', { continuable_generation: generation - 1 }],
  ['all attempts are used', { attempts: limits.maxAttempts }],
])('a cancelled execution whose worker dies, %s: CANCELLED', (_, fields) => {
  const { next, events } = decided({ ...cancelling, ...fields }, died(holder))
  expect(next).toMatchObject({ state: 'CANCELLED', claim_generation: generation + 1 })
  expect(next.held_by).toBeUndefined()
  expect(events.map(({ type }) => type)).toEqual(['WORKFLOW_CANCELLED'])
})

const reasonOf = ({ events }: ReturnType<typeof decided>) => JSON.parse(events[0]?.value_json ?? '')

test('a bound ends a cancelled execution: its last event says which one, and what has not run', () => {
  const waiting = apply(cancelling, died(holder))
  const plain = { ...cancelling, continuable_generation: undefined }
  const spent = { ...cancelling, attempts: limits.maxAttempts }
  const ends = [
    decided(cancelling, { kind: 'expire' }),
    decided(waiting, { kind: 'expire' }),
    decided(spent, died(holder)),
    decided(plain, died(holder)),
  ].map(reasonOf)
  expect(ends.map(({ reason }) => reason)).toEqual([
    'cancel_timeout',
    'cancel_timeout',
    'max_attempts',
    'worker_lost',
  ])
  expect(ends.map(({ message }) => message.split(';')[0])).toEqual([
    'its worker did not end it within cancel_timeout',
    'its worker was lost, and no other one took it within cancel_timeout',
    `its worker was lost, and ${limits.maxAttempts} attempts were made`,
    'its worker was lost, and no other one can continue it',
  ])
  for (const { message } of ends)
    expect(message).toMatch(/compensations without an outcome in the log have not run$/)
})

test('a worker that confirms a cancel: its last event has no reason', () => {
  const of = { worker_name: holder, session_id: 's', claim_generation: generation }
  const report = { holder: of, state: 'CANCELLED', events: [] }
  const { events } = decided(cancelling, { kind: 'checkpoint', report })
  expect(events).toMatchObject([{ type: 'WORKFLOW_CANCELLED', value_json: 'null' }])
})

test('max_attempts of 1: nothing is handed over', () => {
  expect(apply(cancelling, died(holder), { ...limits, maxAttempts: 1 }).state).toBe('CANCELLED')
})

test('a deadline that passes: CANCELLED, whether a worker holds it or none', () => {
  const waiting = apply(cancelling, died(holder))
  for (const execution of [cancelling, waiting, lease(waiting).next])
    expect(apply(execution, { kind: 'expire' })).toMatchObject({ state: 'CANCELLED' })
})

test('a lease of a handed over execution: a new holder, attempt, generation and deadline', () => {
  const waiting = apply(cancelling, died(holder))
  const { next, events, deadlineMs } = lease(waiting)
  expect(next).toMatchObject({ state: 'CANCELLING', held_by: 'b', worker_name: 'b', attempts: 2 })
  expect(next.claim_generation).toBe(generation + 2)
  expect(events.map(({ type }) => type)).toEqual(['WORKFLOW_SCHEDULED'])
  expect(deadlineMs).toBe(limits.cancelMs)
})

test('workers that do not announce the feature, and held executions: no lease', () => {
  const waiting = apply(cancelling, died(holder))
  expect(lease(waiting, false).next).toBe(waiting)
  expect(lease(cancelling).next).toBe(cancelling)
})

test('the new holder: claims, reports and confirms; the earlier one is refused', () => {
  const held = lease(apply(cancelling, died(holder))).next
  const b = { worker_name: 'b', session_id: 't', claim_generation: generation + 2 }
  expect(apply(held, { kind: 'claim', holder: b })).toBe(held)
  const a = { worker_name: holder, session_id: 's', claim_generation: generation }
  const report = (of: typeof a, state: string, events: PendingEvent[] = []) =>
    ({ kind: 'checkpoint', report: { holder: of, state, events } }) as const
  expect(() => apply(held, report(a, 'CANCELLED'))).toThrow('stale-claim')
  expect(() => apply(held, { kind: 'release', holder: a })).toThrow('stale-claim')
  const undone = { type: 'TASK_COMPLETED', source_id: 'u', name: 'undo', value_json: 'null' }
  const worked = apply(held, report(b, 'RUNNING', [undone]))
  expect(worked).toMatchObject({ state: 'CANCELLING', completions: running.completions + 1 })
  expect(apply(worked, report(b, 'CANCELLED')).state).toBe('CANCELLED')
})

test('workers that die again and again, also after progress: CANCELLED after max_attempts leases', () => {
  const done: PendingEvent = {
    type: 'TASK_COMPLETED',
    source_id: '',
    name: 'u',
    value_json: 'null',
  }
  let execution = apply(cancelling, died(holder))
  let leases = 0
  while (execution.state === 'CANCELLING') {
    const held = lease(execution).next
    const of = { worker_name: 'b', session_id: 't', claim_generation: held.claim_generation }
    const events = [{ ...done, source_id: `u${++leases}` }]
    const report = { holder: of, state: 'RUNNING', events }
    execution = apply(apply(held, { kind: 'checkpoint', report }), died('b'))
  }
  expect([execution.state, leases]).toEqual(['CANCELLED', limits.maxAttempts - 1])
})
