import { isTerminal } from '@windlass/domain/states'
import { expect, test } from 'vitest'
import { always } from '../../test/command-plays.ts'
import type { Execution } from '../domain/execution.ts'
import { isDelivered } from '../domain/ownership.ts'

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

test('each non-terminal state: has an owner, a place in the ready queue, or a wake-up', () => {
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

test('queued work: timed out by expire only, and only with a queue_timeout', () => {
  always(({ before, after, command, events }) => {
    const reason = events.some(({ value_json }) => value_json.includes('QueueTimeout'))
    const timedOut = after.state === 'FAILED' && before.queued
    expect(reason).toBe(timedOut)
    if (!timedOut) return
    expect(command.kind).toBe('expire')
    expect(before.queue_timeout_ms).toBeDefined()
  })
})

test('fencing tokens: never decrease, and grow with each lease and each loss', () => {
  always(({ before, after }) => {
    expect(after.claim_generation).toBeGreaterThanOrEqual(before.claim_generation)
    const given = after.held_by !== undefined && before.held_by === undefined
    const taken = before.held_by !== undefined && (after.queued || after.parked)
    if (given || taken) expect(after.claim_generation).toBe(before.claim_generation + 1)
  })
})

test('a command of a worker: changes only executions that it holds, with the current fencing token', () => {
  always(({ before, after, command }) => {
    if (!('report' in command) || after === before) return
    expect(command.report.holder.worker_name).toBe(before.held_by)
    const { claim_generation } = command.report.holder
    if (claim_generation !== undefined) expect(claim_generation).toBe(before.claim_generation)
  })
})

test('a checkpoint without a claim: only under a delivered lease, and the log contains the claim', () => {
  always(({ before, after, command, events }) => {
    const wasUnclaimed = before.state === 'SCHEDULED' || before.state === 'RESUME_SCHEDULED'
    if (command.kind !== 'checkpoint' || !wasUnclaimed || after === before) return
    expect(command.report.holder.claim_generation).toBe(before.claim_generation)
    if (after.queued) return
    expect(isDelivered(before)).toBe(true)
    const claimed = before.state === 'SCHEDULED' ? 'WORKFLOW_CLAIMED' : 'WORKFLOW_RESUME_CLAIMED'
    expect(events[0]?.type).toBe(claimed)
  })
})

test('an attempt: counted once, at a delivered lease or else at the claim', () => {
  always(({ before, after, events }) => {
    if (after.attempts <= before.attempts) return
    // A task that has completed sets it to 1.
    if (events.some(({ type }) => type === 'TASK_COMPLETED')) return
    expect(after.attempts).toBe(before.attempts + 1)
    const isLease = after.claim_generation > before.claim_generation
    expect(isDelivered(after)).toBe(isLease)
    if (!isLease) expect(events[0]?.type).toMatch(/^WORKFLOW_(RESUME_)?CLAIMED$/)
  })
})

test('a terminal state: appends one terminal event; CANCELLED: requires a cancel request', () => {
  const closing = ['WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED']
  always(({ before, after, events, command }) => {
    const ends = events.filter(({ type }) => closing.includes(type))
    expect(ends).toHaveLength(isTerminal(after.state) && !isTerminal(before.state) ? 1 : 0)
    if (after.state === 'CANCELLED' && before.state !== 'CANCELLED')
      expect(before.state === 'CANCELLING' || command.kind === 'cancel').toBe(true)
  })
})

test('a resume body: kept until a task has received it or the execution is terminal', () => {
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
    const { wait_ms, wake_on = [] } = ('park' in command && command.park) || {}
    expect(deadline).toBe(wait_ms !== undefined)
    expect(wait_ms ?? 1).toBeGreaterThan(0)
    expect(wake_on).toEqual(['other'])
    const wasCounted = before.state !== 'SCHEDULED' || isDelivered(before)
    expect(after.attempts).toBe(Math.max(0, before.attempts - (wasCounted ? 1 : 0)))
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
