import { Fault } from '@windlass/runtime/faults'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Execution, PendingEvent } from '../src/domain/execution.ts'
import { type Command, decide } from '../src/engine/command.ts'
import { decisionContext, queued } from './execution-samples.ts'

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
  wait_ms: fc.constantFrom(undefined, -1, 0, 5_000),
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
      claims_by_delivery: fc.boolean(),
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
/** Checks every step of many random sequences of commands. */
export const always = (check: (step: Step) => void) =>
  fc.assert(
    fc.property(plays, (one) => play(one, check)),
    { numRuns: 3_000 },
  )
