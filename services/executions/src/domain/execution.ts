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
  /** Claim holder, with the worker session and the connection generation of its lease. */
  held_by?: string
  held_session?: string
  held_connection?: number
  /** Last claim holder; the worker that clients see. */
  worker_name?: string
  claim_generation: number
  /** Generation of the latest lease that a first checkpoint may claim; see `isDelivered`. */
  delivered_generation?: number
  /** Generation of the latest lease to a worker that continues cancelled executions. */
  continuable_generation?: number
  /** True if it is in the ready queue. */
  queued: boolean
  /** True if it waits outside of the ready queue, without a worker (parking.ts). */
  parked: boolean
  attempts: number
  completions: number
  resume_due: boolean
  pause_source_id?: string
  /** True if it has requested approvals; only then do commands read them. */
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
  /** Subject and issuer of the principal that started it; empty for an anonymous caller. */
  created_by: string
  created_by_issuer: string
  schedule_id?: string
  /** Number of nested runs above it; 0 for an outermost execution. */
  depth: number
  /** The execution that started it as a nested run; absent: none. */
  parent_id?: string
  /** True: a cancel of the parent also cancels it. */
  cancel_with_parent: boolean
  request_hash: string
  /** Name of the process that sent the create and waits for the end; absent: none. */
  reply_to?: string
  /** W3C trace context of the create; absent: not traced. */
  traceparent?: string | undefined
  /** Partition of the log that its entries are written to; 0: the one that is never dropped. */
  log_part: number
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

/** Result of a command. `next` is the same object if the row is unchanged. */
export interface Outcome {
  next: Execution
  events: PendingEvent[]
  /** Time until the sweeper acts; absent: never; `kept`: the deadline stays. */
  deadlineMs?: number | 'kept'
  /** Executions whose end wakes this one, if it was parked. */
  wake_on?: readonly string[]
}

/** Limits of the state machine, in milliseconds and counts. */
export interface Limits {
  claimMs: number
  cancelMs: number
  maxAttempts: number
}
