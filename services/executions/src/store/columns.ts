import { TERMINAL_EVENTS, TERMINAL_STATES } from '@windlass/domain/states'
import { Sql, sql } from '@windlass/runtime/postgres/sql'

/** Larger inputs are not read with the rows that commands change. */
const SMALL_BYTES = 8192

const common = sql`
  execution_id, workflow_id, workflow_namespace, workflow_name, workflow_version, requirement_id,
  state, held_by, held_session, held_connection, worker_name, claim_generation,
  delivered_generation, continuable_generation, queued_at is not null as queued, parked, attempts, completions, resume_due, gated, pause_source_id,
  queue_timeout_ms, preferred_worker, passed_over, last_seq, revision, created_by, created_by_issuer,
  schedule_id, depth, parent_id, cancel_with_parent, request_hash, reply_to, traceparent, log_part, created_at, updated_at`

/** Columns for a decision, without a large input, because most commands do not answer it. */
export const forChange = sql`${common},
  case when pg_column_size(input) <= ${SMALL_BYTES}::int then input end as input_json,
  output as output_json, pause_output as pause_output_json`

/** Columns of a complete row. */
export const whole = sql`${common},
  input as input_json, output as output_json, pause_output as pause_output_json`

/** Columns of a row without its payloads. */
export const head = common

/** Columns of a list, without payloads. */
export const listed = sql`
  execution_id, workflow_id, workflow_namespace, workflow_name, workflow_version, state,
  worker_name, claim_generation, last_seq, created_at, updated_at`

/** Literals, not parameters, because the planner compares them with the predicates of partial indexes. */
const literals = (values: Iterable<string>) =>
  new Sql([`(${[...values].map((value) => `'${value}'`).join(', ')})`], [])

export const terminalStates = literals(TERMINAL_STATES)
export const terminalEvents = literals(TERMINAL_EVENTS)
