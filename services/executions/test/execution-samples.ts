import { isTerminal, type State } from '@windlass/domain/states'
import type { Execution } from '../src/domain/execution.ts'
import type { DecisionContext } from '../src/engine/command.ts'

export const limits = { claimMs: 10_000, cancelMs: 60_000, maxAttempts: 5 }

/** An execution that was just created. */
export const queued: Execution = {
  execution_id: 'e',
  workflow_id: 'w',
  workflow_namespace: 'default',
  workflow_name: 'report',
  workflow_version: 1,
  requirement_id: 'r',
  state: 'SCHEDULED',
  claim_generation: 0,
  queued: true,
  parked: false,
  attempts: 0,
  completions: 0,
  resume_due: false,
  created_by: '',
  created_by_issuer: '',
  gated: false,
  last_seq: 0,
  revision: 0,
  log_part: 0,
  input_json: '1',
  request_hash: '',
  depth: 0,
  cancel_with_parent: false,
  created_at: new Date(0),
  updated_at: new Date(0),
}

/** A row in this state; worker `a` holds it where the state needs a holder. */
export function inState(state: State): Execution {
  const isUnheld = state === 'PAUSED' || state === 'RESUMING' || isTerminal(state)
  if (state === 'SCHEDULED') return queued
  const row = { ...queued, state, queued: state === 'RESUMING', claim_generation: 1 }
  if (isUnheld) return { ...row, worker_name: 'a' }
  return { ...row, worker_name: 'a', held_by: 'a', held_session: 's', held_connection: 1 }
}

/** An execution that waits outside of the queue. */
export const parked: Execution = { ...queued, queued: false, parked: true, claim_generation: 1 }

/** A lease that its worker, `a`, has not claimed yet. */
export const leased: Execution = { ...inState('CLAIMED'), state: 'SCHEDULED' }

/** A lease that the first checkpoint of its worker may claim. */
export const delivered: Execution = { ...leased, delivered_generation: 1, attempts: 1 }

/** No known events, free slots everywhere, no deadline passed. */
export const decisionContext = (more: Partial<DecisionContext> = {}): DecisionContext => ({
  limits,
  isKnown: () => false,
  hasFreeSlot: () => true,
  isDue: false,
  approvals: [],
  findAwaited: () => undefined,
  now: new Date(0),
  ...more,
})
