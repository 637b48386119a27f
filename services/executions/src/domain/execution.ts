import type { State } from '@windlass/domain/states'

/** One execution: the row, without its log. */
export interface Execution {
  execution_id: string
  workflow_id: string
  workflow_namespace: string
  workflow_name: string
  workflow_version: number
  requirement_id: string
  state: State
  /** Holder, with the worker session and the connection generation of its lease. */
  held_by?: string
  held_session?: string
  held_connection?: number
  /** Last holder; what clients see. */
  worker_name?: string
  claim_generation: number
  /** Generation of its latest lease that the first checkpoint may claim; see `isDelivered`. */
  delivered_generation?: number
  /** True if it is in the ready queue. */
  queued: boolean
  /** True if it waits outside of the ready queue, without a worker (parking.ts). */
  parked: boolean
  attempts: number
  completions: number
  resume_due: boolean
  pause_source_id?: string
  /** True if it has requested approvals: only then do commands read them. */
  gated: boolean
  /** Limit of each wait in the queue; absent: no limit. */
  queue_timeout_ms?: number
  preferred_worker?: string
  passed_over?: string
  last_seq: number
  /** Grows with every change; compared by the optimistic path. */
  revision: number
  input_json: string
  output_json?: string
  pause_output_json?: string
  /** Subject that started it, and its issuer; empty for an anonymous caller. */
  created_by: string
  created_by_issuer: string
  schedule_id?: string
  /** Nested runs above it; 0 for an outermost execution. */
  depth: number
  /** Execution that started it by a nested run; absent: none. */
  parent_id?: string
  /** A cancel of the parent cancels it too. */
  cancel_with_parent: boolean
  request_hash: string
  /** Sender of the create, if it waits for the end; absent: none. */
  reply_to?: string
  /** W3C trace context of the create; absent: not traced. */
  traceparent?: string | undefined
  created_at: Date
  updated_at: Date
}

/** An event to append; the execution writer numbers it. */
export interface PendingEvent {
  type: string
  source_id: string
  name: string
  value_json: string
  /** Set by the worker; absent for events of this service. */
  event_id?: string
  time?: string
}

/** Result of a command. `next` is the same object if the row has not changed. */
export interface Outcome {
  next: Execution
  events: PendingEvent[]
  /** Time until the sweeper acts; absent: never; `kept`: unchanged. */
  deadlineMs?: number | 'kept'
  /** Executions whose end wakes it, if it was parked. */
  wake_on?: readonly string[]
}

/** Limits of the state machine, in milliseconds and counts. */
export interface Limits {
  claimMs: number
  cancelMs: number
  maxAttempts: number
}
