import { z } from 'zod'

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
}

/** Response of routes that return an execution: the summary, with `?detailed=true` the events too. */
export const ExecutionView = z
  .object({ ...summary, events: z.array(Event).optional() })
  .meta({ id: 'Execution' })

export const ExecutionContext = z
  .object({ ...summary, events: z.array(Event) })
  .omit({ worker_name: true })
  .meta({ id: 'ExecutionContext' })

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
      }),
    ),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: 'ExecutionListResponse' })

export const Ok = z.object({ status: z.literal('ok') }).meta({ id: 'Ok' })

export const Success = z
  .object({ status: z.literal('success'), message: z.string() })
  .meta({ id: 'Success' })
