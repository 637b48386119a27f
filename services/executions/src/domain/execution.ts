import type { State } from '@windlass/domain/states'

/** One execution as the state machine sees it: a row without its payloads' history. */
export interface Execution {
  execution_id: string
  workflow_id: string
  workflow_namespace: string
  workflow_name: string
  workflow_version: number
  requirement_id: string
  state: State
  /** Who has it now; its session and connection are those on which it was given. */
  held_by?: string
  held_session?: string
  held_connection?: number
  /** Who had it last. */
  worker_name?: string
  claim_generation: number
  /** Waits in the ready queue. */
  queued: boolean
  attempts: number
  completions: number
  resume_due: boolean
  pause_source_id?: string
  /** Has asked for approvals. */
  gated: boolean
  /** How long it may wait in the queue, each time; absent: as long as it takes. */
  queue_timeout_ms?: number
  preferred_worker?: string
  passed_over?: string
  last_seq: number
  /** Grows at every change. */
  revision: number
  input_json: string
  output_json?: string
  pause_output_json?: string
  /** Who started it, and who vouches for that subject; empty for nobody. */
  created_by: string
  created_by_issuer: string
  schedule_id?: string
  request_hash: string
  created_at: Date
  updated_at: Date
}

/** An event to be appended; the door gives it its place in the log. */
export interface PendingEvent {
  type: string
  source_id: string
  name: string
  value_json: string
  /** Given by the worker; absent for the server's own. */
  event_id?: string
  time?: string
}

/** What a command makes of an execution. The same object means that nothing changed. */
export interface Outcome {
  next: Execution
  events: PendingEvent[]
  /** Until the server acts by itself; absent: it need not; `kept`: as it was. */
  deadlineMs?: number | 'kept'
}

/** The limits that the state machine works with, in milliseconds and counts. */
export interface Limits {
  claimMs: number
  cancelMs: number
  maxAttempts: number
}
