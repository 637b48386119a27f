import { expect, test } from 'vitest'
import {
  decisionContext,
  delivered,
  inState,
  leased,
  limits,
  queued,
} from '../../test/execution-samples.ts'
import type { Execution, Limits, PendingEvent } from '../domain/execution.ts'
import { isDelivered } from '../domain/ownership.ts'
import { type Command, decide } from './command.ts'

const STARTED: PendingEvent = {
  type: 'WORKFLOW_STARTED',
  source_id: 's',
  name: 'report',
  value_json: 'null',
  event_id: 'e1',
}
const offer = (claims_by_delivery?: boolean) => ({
  worker_name: 'a',
  session_id: 's',
  connection_generation: 1,
  claims_by_delivery,
})
const report = (state: string, claim_generation?: number, events = [STARTED]) =>
  ({
    kind: 'checkpoint',
    report: { holder: { worker_name: 'a', session_id: 's', claim_generation }, state, events },
  }) as const

const apply = (execution: Execution, command: Exclude<Command, { kind: 'create' }>, of = limits) =>
  decide(execution, command, decisionContext({ limits: of, isDue: command.kind === 'expire' }))

const lease = (execution: Execution, of?: Limits, to = offer(true)) =>
  apply(execution, { kind: 'lease', offer: to, capacity: 0 }, of).next

const died = { kind: 'lose', held_by: 'a', upToConnection: 9, loss: 'died' } as const

test('D6: a worker that claims by delivery: the lease counts as an attempt, the claim not again', () => {
  const held = lease(queued)
  expect(held).toMatchObject({ state: 'SCHEDULED', held_by: 'a', attempts: 1, claim_generation: 1 })
  expect(isDelivered(held)).toBe(true)
  const holder = { worker_name: 'a', session_id: 's', claim_generation: 1 }
  const { next } = apply(held, { kind: 'claim', holder, awaits_confirmation: true })
  expect(next).toMatchObject({ state: 'CLAIMED', attempts: 1 })
})

test.each([false, undefined])(
  'a worker that announces %s: claims, and the claim counts',
  (announced) => {
    const held = lease(queued, limits, offer(announced))
    expect([isDelivered(held), held.attempts]).toEqual([false, 0])
    expect(() => apply(held, report('RUNNING', 1))).toThrow('stale-claim')
    const { next } = apply(held, { kind: 'claim', holder: { worker_name: 'a', session_id: 's' } })
    expect(next).toMatchObject({ state: 'CLAIMED', attempts: 1 })
  },
)

test.each([
  ['RUNNING', 'RUNNING'],
  ['PAUSED', 'PAUSED'],
  ['COMPLETED', 'COMPLETED'],
  ['FAILED', 'FAILED'],
])('a first checkpoint that reports %s: claim and checkpoint in one decision', (state, after) => {
  const { next, events, deadlineMs } = apply(delivered, report(state, 1))
  expect(next.state).toBe(after)
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual([
    'WORKFLOW_CLAIMED',
    'WORKFLOW_STARTED',
  ])
  expect(deadlineMs).toBeUndefined()
})

test('a first checkpoint of a resume: the log contains WORKFLOW_RESUME_CLAIMED', () => {
  const resuming: Execution = { ...queued, state: 'RESUMING', resume_due: true }
  const { next, events } = apply(lease(resuming), report('RUNNING', 1))
  expect(next).toMatchObject({ state: 'RUNNING', attempts: 1, resume_due: true })
  expect(events.map(({ type }) => type)).toEqual(['WORKFLOW_RESUME_CLAIMED', 'WORKFLOW_STARTED'])
})

test.each([
  ['without a generation', delivered, undefined],
  ['under an earlier generation', { ...delivered, claim_generation: 2 }, 1],
  ['under a later lease that has to be claimed', { ...delivered, claim_generation: 3 }, 3],
  ['by another worker', { ...delivered, held_by: 'b' }, 1],
])('C2, C4: a first checkpoint %s: stale', (_, execution, generation) => {
  expect(() => apply(execution, report('RUNNING', generation))).toThrow('stale-claim')
})

test.each([
  ['a lease that expired', () => apply(lease(queued), { kind: 'expire' }).next, 0],
  ['a worker that died', () => apply(lease(queued), died).next, 1],
])('D6: after %s: the next worker has to claim', (_, lost, attempts) => {
  const free = lost()
  expect(free).toMatchObject({ state: 'SCHEDULED', queued: true, attempts })
  const again = lease(free)
  expect([isDelivered(again), again.attempts]).toEqual([false, attempts])
  expect(() => apply(again, report('RUNNING', again.claim_generation))).toThrow('stale-claim')
})

test('after a release: the attempt is taken back, and the next lease is delivered', () => {
  const holder = { worker_name: 'a', session_id: 's', claim_generation: 1 }
  const { next } = apply(lease(queued), { kind: 'release', holder, unclaimed_only: true })
  expect(next).toMatchObject({ queued: true, attempts: 0 })
  expect(isDelivered(lease(next))).toBe(true)
})

test('D6: work that kills each worker before its first checkpoint: given up after max_attempts', () => {
  let execution: Execution = queued
  let deaths = 0
  for (; execution.state !== 'FAILED' && deaths < 20; deaths++) {
    const held = lease(execution)
    const holder = { worker_name: 'a', session_id: 's', claim_generation: held.claim_generation }
    // Every worker but the first has to claim before it runs the work.
    execution = apply(
      isDelivered(held) ? held : apply(held, { kind: 'claim', holder }).next,
      died,
    ).next
  }
  expect(deaths).toBe(limits.maxAttempts)
})

test('max_attempts 1: no lease is delivered', () => {
  expect(isDelivered(lease(queued, { ...limits, maxAttempts: 1 }))).toBe(false)
})

test('E7: a cancel of a delivered lease: CANCELLING until the claim deadline, as its worker may run it', () => {
  const { next, events, deadlineMs } = apply(delivered, { kind: 'cancel' })
  expect([next.state, next.held_by, deadlineMs]).toEqual(['CANCELLING', 'a', 'kept'])
  expect(events.map(({ type }) => type)).toEqual(['WORKFLOW_CANCELLING'])
  expect(apply(next, { kind: 'expire' }).next.state).toBe('CANCELLED')
  expect(apply(next, report('CANCELLED', 1, [])).next.state).toBe('CANCELLED')
})

test('a cancel of a delivered lease whose worker sends checkpoints: the first one starts cancel_timeout', () => {
  const cancelling = apply(delivered, { kind: 'cancel' }).next
  const first = apply(cancelling, report('RUNNING', 1))
  expect([first.next.state, first.deadlineMs]).toEqual(['CANCELLING', limits.cancelMs])
  expect(first.events).toEqual([STARTED])
  const second = apply(first.next, report('RUNNING', 1, [{ ...STARTED, event_id: 'e2' }]))
  expect([second.next.state, second.deadlineMs]).toEqual(['CANCELLING', 'kept'])
})

test('a cancel after the first checkpoint: later checkpoints do not extend cancel_timeout', () => {
  const running = apply(delivered, report('RUNNING', 1)).next
  const cancelling = apply(running, { kind: 'cancel' })
  expect(cancelling.deadlineMs).toBe(limits.cancelMs)
  const later = apply(cancelling.next, report('RUNNING', 1, [{ ...STARTED, event_id: 'e2' }]))
  expect(later.deadlineMs).toBe('kept')
})

test('E7: a cancel of a lease that has to be claimed: CANCELLED at once', () => {
  expect(apply(leased, { kind: 'cancel' }).next.state).toBe('CANCELLED')
})

test('a worker that reports CANCELLED without a request before its first checkpoint: released', () => {
  const { next } = apply(delivered, report('CANCELLED', 1, []))
  expect(next).toMatchObject({ state: 'SCHEDULED', queued: true, attempts: 0 })
})

test('D6: a worker dies after its first checkpoint: queued again, counted as one attempt', () => {
  const running = apply(delivered, report('RUNNING', 1)).next
  expect(running).toMatchObject({ ...inState('RUNNING'), attempts: 1, delivered_generation: 1 })
  expect(apply(running, died).next).toMatchObject({ queued: true, attempts: 1 })
})
