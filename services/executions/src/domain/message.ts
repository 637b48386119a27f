import type {
  Execution as Message,
  Starter,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { Execution } from './execution.ts'

/** Converts a row to its message. An input that was not read with the row becomes `null`. */
export const toMessage = (row: Execution): Message => ({
  execution_id: row.execution_id,
  workflow_id: row.workflow_id,
  workflow_namespace: row.workflow_namespace,
  workflow_name: row.workflow_name,
  workflow_version: row.workflow_version,
  state: row.state,
  worker_name: row.worker_name ?? '',
  claim_generation: row.claim_generation,
  input_json: row.input_json ?? 'null',
  output_json: row.output_json,
  pause_output_json: row.state === 'PAUSED' ? row.pause_output_json : undefined,
  last_seq: row.last_seq,
  created_at: row.created_at,
  updated_at: row.updated_at,
  worker_session: row.held_session ?? '',
  attempts: row.attempts,
  parent_id: row.parent_id,
  traceparent: row.traceparent,
})

/** The principal that started an execution; its subject is empty for an anonymous caller. */
export const starterOf = ({ created_by, created_by_issuer }: Execution): Starter => ({
  subject: created_by,
  issuer: created_by_issuer,
})
