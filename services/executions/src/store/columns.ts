import { sql } from '@windlass/runtime/postgres/sql'

/** Inputs above this are left out where the answer does not need them. */
const SMALL_BYTES = 8192

const common = sql`
  execution_id, workflow_id, workflow_namespace, workflow_name, workflow_version, requirement_id,
  state, held_by, held_session, held_connection, worker_name, claim_generation,
  queued_at is not null as queued, attempts, completions, resume_due, gated, pause_source_id,
  queue_timeout_ms, preferred_worker, passed_over, last_seq, revision, created_by, created_by_issuer,
  schedule_id, request_hash, created_at, updated_at`

/** A row as the state machine takes it; a large input does not travel with every checkpoint. */
export const forChange = sql`${common},
  case when pg_column_size(input) <= ${SMALL_BYTES}::int then input end as input_json,
  output as output_json, pause_output as pause_output_json`

/** A whole row. */
export const whole = sql`${common},
  input as input_json, output as output_json, pause_output as pause_output_json`

/** A row of a list: no payloads. */
export const listed = sql`
  execution_id, workflow_id, workflow_namespace, workflow_name, workflow_version, state,
  worker_name, claim_generation, last_seq, created_at, updated_at`
