import { z } from 'zod'
import { EXECUTION, EXECUTION_LIST } from './examples.ts'

/** Any JSON value, unchanged. */
const anything = z.unknown()

const Event = z
  .object({
    id: z.string(),
    type: z.string(),
    source_id: z.string(),
    name: z.string(),
    value: anything,
    time: z.string(),
    subject: z.null(),
  })
  .meta({ id: 'Event' })

const summary = {
  workflow_id: z.string(),
  workflow_namespace: z.string(),
  workflow_name: z.string(),
  execution_id: z.string(),
  input: anything,
  output: anything,
  state: z.string(),
  current_worker: z.string(),
  worker_name: z.string(),
  /** Id of the trace that its creation belongs to; absent: it is not traced. */
  trace_id: z.string().optional(),
}

/** Response of routes that return an execution: the summary, with `?detailed=true` the events too. */
export const ExecutionView = z
  .object({ ...summary, events: z.array(Event).optional() })
  .meta({ id: 'Execution', examples: [EXECUTION] })

export const ExecutionContext = z
  .object({ ...summary, events: z.array(Event) })
  .omit({ worker_name: true, trace_id: true })
  .meta({ id: 'ExecutionContext' })

const time = z.string().nullable()
const bytes = z.int().nullable()

/** Absent in rows of a service of an earlier release; null where unknown or not yet. */
const details = {
  workflow_version: z.int().optional(),
  /** Since when it is in the ready queue. */
  queued_at: time.optional(),
  /** First claim by a worker. */
  started_at: time.optional(),
  finished_at: time.optional(),
  /** Claims since its last progress; above 1, the process that had the previous one died. */
  attempts: z.int().optional(),
  created_by: z.string().optional(),
  schedule_id: z.string().nullable().optional(),
  /** Execution that started it by a nested run. */
  parent_id: z.string().nullable().optional(),
  /** Execution that it repeats, or was forked from. */
  origin_id: z.string().nullable().optional(),
  /** The last entry of the origin's log that a fork may begin with; null for others. */
  origin_seq: z.int().nullable().optional(),
  /** Size of the stored JSON text. */
  input_bytes: bytes.optional(),
  output_bytes: bytes.optional(),
  /** First line of the error of a FAILED execution. */
  error: z.string().nullable().optional(),
  tags: z.record(z.string(), z.string()).optional(),
  /** Grows with every change of the execution. */
  revision: z.int().optional(),
}

export const ExecutionList = z
  .object({
    executions: z.array(
      z.object({
        execution_id: z.string(),
        workflow_id: z.string(),
        workflow_namespace: z.string(),
        workflow_name: z.string(),
        state: z.string(),
        worker_name: z.string(),
        created_at: z.string(),
        updated_at: z.string(),
        ...details,
      }),
    ),
    /** Number of matches; at least so many unless `total_exact`. */
    total: z.int(),
    total_exact: z.boolean(),
    limit: z.int(),
    offset: z.int(),
    /** `cursor` of the next page; null: there are no more. */
    next_cursor: z.string().nullable(),
    /** True if the search ended at its bound: later pages may have more, even if this one is not full. */
    cut: z.boolean(),
  })
  .meta({ id: 'ExecutionListResponse', examples: [EXECUTION_LIST] })

export const Ok = z.object({ status: z.literal('ok') }).meta({ id: 'Ok' })

export const Success = z
  .object({ status: z.literal('success'), message: z.string() })
  .meta({ id: 'Success' })
