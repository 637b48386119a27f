import { isTerminal } from '@windlass/domain/states'
import { Fault } from '@windlass/runtime/faults'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decisionContext, queued } from '../../test/execution-samples.ts'
import type { Execution, PendingEvent } from '../domain/execution.ts'
import { type Command, decide } from './command.ts'

const WORKERS = ['a', 'b']

const TARGET = { workflow_id: 'w2', workflow_version: 2, requirement_id: 'r2' }

const worker = fc.constantFrom(...WORKERS)
const holder = fc.record({
  worker_name: worker,
  session_id: fc.constantFrom('', 's'),
  claim_generation: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
})
const draft = fc.record<PendingEvent>({
  type: fc.constantFrom('TASK_STARTED', 'TASK_COMPLETED', 'TASK_PAUSED', 'WORKFLOW_PAUSED'),
  source_id: fc.constantFrom('t1', 't2'),
  name: fc.constant('t'),
  value_json: fc.constantFrom('null', '{"name":"p","output":7}'),
  event_id: fc.string({ minLength: 4, maxLength: 4 }),
  time: fc.constant('t'),
})
/** `other` is running and has the same starter, `ended` is finished. */
const AWAITED = new Map([
  ['other', { ...queued, execution_id: 'other' }],
  ['ended', { ...queued, execution_id: 'ended', state: 'COMPLETED' as const }],
  ['foreign', { ...queued, execution_id: 'foreign', created_by: 'eve' }],
])
const park = fc.record({
  wake_at: fc.constantFrom(undefined, new Date(0), new Date(5_000)),
  wake_on: fc.constantFrom(['other'], ['other', 'ended'], ['foreign'], ['unknown']),
})
const state = fc.constantFrom(
  'CLAIMED',
  'RUNNING',
  'PAUSED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'SCHEDULED',
)
const command: fc.Arbitrary<Exclude<Command, { kind: 'create' }>> = fc.oneof(
  fc.record({
    kind: fc.constant('lease' as const),
    offer: fc.record({
      worker_name: worker,
      session_id: fc.constant('s'),
      connection_generation: fc.integer({ min: 1, max: 3 }),
    }),
    capacity: fc.constant(0),
  }),
  fc.record({ kind: fc.constant('claim' as const), holder, awaits_confirmation: fc.boolean() }),
  fc.record({ kind: fc.constant('confirm_claim' as const), holder, pending_bytes: fc.nat(9) }),
  fc.record({ kind: fc.constant('release' as const), holder }),
  fc.record({ kind: fc.constant('release' as const), holder, park }),
  fc.record({
    kind: fc.constant('wake' as const),
    claim_generation: fc.integer({ min: 0, max: 6 }),
  }),
  fc.record({ kind: fc.constant('verify' as const), holder }),
  fc.record({
    kind: fc.constant('checkpoint' as const),
    report: fc.record({
      holder,
      state,
      events: fc.array(draft, { maxLength: 3 }),
      output_json: fc.constant('2'),
    }),
  }),
  fc.record({
    kind: fc.constant('resume' as const),
    body_json: fc.constant('3'),
    target: fc.constantFrom(
      undefined,
      { ...TARGET, queue_timeout_ms: undefined },
      { ...TARGET, queue_timeout_ms: 50 },
    ),
  }),
  fc.record({ kind: fc.constant('cancel' as const) }),
  fc.record({
    kind: fc.constant('lose' as const),
    held_by: worker,
    upToConnection: fc.integer({ min: 0, max: 3 }),
    loss: fc.constantFrom('died' as const, 'released' as const),
  }),
  fc.record({ kind: fc.constant('expire' as const) }),
)

interface Step {
  before: Execution
  after: Execution
  events: PendingEvent[]
  deadline: boolean
  command: Command
}

/** Applies commands in order; refused ones change nothing, as in the execution writer. */
function play({ queue_timeout_ms, commands }: Play, each: (step: Step) => void): void {
  let before: Execution = { ...queued, queue_timeout_ms }
  let deadline = queue_timeout_ms !== undefined
  for (const command of commands) {
    try {
      const known = Object.freeze(before)
      const outcome = decide(known, command, context(deadline))
      const changed = outcome.next !== before || outcome.events.length > 0
      if (changed)
        deadline = outcome.deadlineMs === 'kept' ? deadline : outcome.deadlineMs !== undefined
      each({ before, after: outcome.next, events: outcome.events, deadline, command })
      before = outcome.next
    } catch (error) {
      expect(error).toBeInstanceOf(Fault)
    }
  }
}

const context = (isDue: boolean) => decisionContext({ isDue, findAwaited: (id) => AWAITED.get(id) })

interface Play {
  queue_timeout_ms: number | undefined
  commands: Exclude<Command, { kind: 'create' }>[]
}

const plays: fc.Arbitrary<Play> = fc.record({
  queue_timeout_ms: fc.constantFrom(undefined, 70),
  commands: fc.array(command, { maxLength: 40 }),
})
const always = (check: (step: Step) => void) =>
  fc.assert(
    fc.property(plays, (one) => play(one, check)),
    { numRuns: 3_000 },
  )

/** True if the holder can vanish without any other sign. */
const canVanish = ({ state, held_by }: Execution) =>
  state === 'RESUME_SCHEDULED' ||
  state === 'CANCELLING' ||
  (state === 'SCHEDULED' && held_by !== undefined)

/** True for a wait until a time, and for a claim until its answer is confirmed. */
const mayHaveDeadline = ({ state, parked }: Execution) =>
  parked || state === 'CLAIMED' || state === 'RESUME_CLAIMED'

/** True if it may be queued. */
const isReady = ({ state, held_by }: Execution) =>
  (state === 'SCHEDULED' || state === 'RESUMING') && held_by === undefined

test('every non-terminal state has an owner, the ready queue, or a wake-up', () => {
  always(({ after }) => {
    const { state, held_by, queued: waits, parked } = after
    expect([waits, parked].filter(Boolean)).toHaveLength(isReady(after) ? 1 : 0)
    if (['CLAIMED', 'RUNNING', 'RESUME_SCHEDULED', 'RESUME_CLAIMED', 'CANCELLING'].includes(state))
      expect(held_by).toBeDefined()
    if (state === 'PAUSED' || state === 'RESUMING' || isTerminal(state))
      expect(held_by).toBeUndefined()
  })
})

test('a deadline: where the owner can vanish, and of a bounded wait', () => {
  always(({ after, deadline }) => {
    const bounded = after.queue_timeout_ms !== undefined && after.queued
    // Only these states are ended by a clock.
    if (!mayHaveDeadline(after)) expect(deadline).toBe(canVanish(after) || bounded)
  })
})

test('a terminal execution: neither state nor output ever changes', () => {
  always(({ before, after, events }) => {
    if (!isTerminal(before.state)) return
    expect(after).toBe(before)
    expect(events).toEqual([])
  })
})

test('only expire times out queued work, and only work with a queue_timeout', () => {
  always(({ before, after, command, events }) => {
    const reason = events.some(({ value_json }) => value_json.includes('QueueTimeout'))
    const timedOut = after.state === 'FAILED' && before.queued
    expect(reason).toBe(timedOut)
    if (!timedOut) return
    expect(command.kind).toBe('expire')
    expect(before.queue_timeout_ms).toBeDefined()
  })
})

test('fencing tokens never shrink, and grow with every lease and every loss', () => {
  always(({ before, after }) => {
    expect(after.claim_generation).toBeGreaterThanOrEqual(before.claim_generation)
    const given = after.held_by !== undefined && before.held_by === undefined
    const taken = before.held_by !== undefined && (after.queued || after.parked)
    if (given || taken) expect(after.claim_generation).toBe(before.claim_generation + 1)
  })
})

test('a worker changes only executions that it holds, and only with the current fencing token', () => {
  always(({ before, after, command }) => {
    if (!('report' in command) || after === before) return
    expect(command.report.holder.worker_name).toBe(before.held_by)
    const { claim_generation } = command.report.holder
    if (claim_generation !== undefined) expect(claim_generation).toBe(before.claim_generation)
  })
})

test('a terminal state appends one terminal event, and CANCELLED requires a cancel request', () => {
  const closing = ['WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED']
  always(({ before, after, events, command }) => {
    const ends = events.filter(({ type }) => closing.includes(type))
    expect(ends).toHaveLength(isTerminal(after.state) && !isTerminal(before.state) ? 1 : 0)
    if (after.state === 'CANCELLED' && before.state !== 'CANCELLED')
      expect(before.state === 'CANCELLING' || command.kind === 'cancel').toBe(true)
  })
})

test('a resume body is kept until a task has received it or the execution is terminal', () => {
  always(({ before, after, events }) => {
    if (!before.resume_due || isTerminal(after.state) || after.state === 'PAUSED') return
    if (events.some(({ type }) => type === 'TASK_COMPLETED')) return
    expect(after.resume_due).toBe(true)
    if (after.queued || after.parked) expect(after.state).toBe('RESUMING')
  })
})

test('a parked execution: only its release parks it, and it has a condition that is not met', () => {
  always(({ before, after, command, deadline }) => {
    if (!after.parked || before.parked) return
    expect(command.kind).toBe('release')
    const { wake_at, wake_on = [] } = ('park' in command && command.park) || {}
    expect(deadline).toBe(wake_at !== undefined)
    expect(wake_at?.getTime() ?? 1).toBeGreaterThan(0)
    expect(wake_on).toEqual(['other'])
    expect(after.attempts).toBe(
      Math.max(0, before.attempts - (before.state === 'SCHEDULED' ? 0 : 1)),
    )
  })
})

test('a parked execution: queued by its deadline or by its wake-up, ended by a cancel, else unchanged', () => {
  always(({ before, after, command, deadline }) => {
    if (!before.parked || after === before) return
    expect(['expire', 'wake', 'cancel']).toContain(command.kind)
    if (command.kind === 'cancel') expect(after.state).toBe('CANCELLED')
    else expect(after).toEqual({ ...before, parked: false, queued: true })
    if (command.kind === 'wake') expect(command.claim_generation).toBe(before.claim_generation)
    if (after.queued) expect(deadline).toBe(before.queue_timeout_ms !== undefined)
  })
})
