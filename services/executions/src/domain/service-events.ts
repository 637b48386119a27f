import type { Execution, PendingEvent } from './execution.ts'

/** An event of this service about a worker. */
export const workerEvent = (type: string, worker_name: string): PendingEvent => ({
  type,
  source_id: worker_name,
  name: worker_name,
  value_json: 'null',
})

/** An event of this service about the execution as a whole. */
export const workflowEvent = (execution: Execution, type: string): PendingEvent => ({
  type,
  source_id: execution.worker_name ?? '',
  name: execution.workflow_name,
  value_json: 'null',
})
