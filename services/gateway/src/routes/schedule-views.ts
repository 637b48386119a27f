import { NAME_PATTERNS, scheduleNameOf } from '@windlass/domain/names'
import { OVERLAP_POLICIES } from '@windlass/domain/overlap'
import type { Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { z } from 'zod'
import { JsonText } from '../domain/views.ts'
import { text } from '../route/fields.ts'
import { timeOf } from './responses.ts'

/** A member of a body that stays text. */
export const kept = z.unknown().transform((value) => value as JsonText | undefined)

const config = kept.refine(
  (value) => value === undefined || /^(\{|null$)/.test(value.text),
  'must be an object',
)
const isName = (name: string) => scheduleNameOf(name) !== undefined
const account = text(255).nullish()
const overlap = z.enum(OVERLAP_POLICIES)

const changeable = {
  description: text(4_096).nullish(),
  input_data: kept.optional(),
  run_as_service_account: account,
  overlap: overlap.nullish(),
}

export const NewSchedule = z
  .strictObject({
    workflow_name: text(255),
    workflow_namespace: text(64).nullish(),
    name: z
      .string()
      .refine(isName, 'must be 1 to 255 printable characters without /')
      .transform((given) => given.normalize('NFC'))
      .meta({ wire: { type: 'string', pattern: NAME_PATTERNS.label } }),
    schedule_config: config.refine(
      (value) => value !== undefined && value.text !== 'null',
      'Field required',
    ),
    ...changeable,
  })
  .meta({ id: 'NewSchedule' })

export const ScheduleChange = z
  .strictObject({
    schedule_config: config.optional(),
    ...changeable,
  })
  .meta({ id: 'ScheduleChange' })

const time = z.string().nullable()

export const ScheduleView = z
  .object({
    id: z.string(),
    workflow_id: z.string(),
    workflow_namespace: z.string(),
    workflow_name: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    schedule_type: z.string(),
    status: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    last_run_at: time,
    next_run_at: time,
    run_count: z.int(),
    failure_count: z.int(),
    run_as_service_account: z.string().nullable(),
    overlap,
    schedule_config: z.record(z.string(), z.unknown()),
    input_problem: z.string().nullable(),
    input_data: z.unknown(),
    /** Names the state of what a change can change; null from a scheduler of an earlier release. */
    revision: z.string().nullable(),
  })
  .meta({ id: 'Schedule' })

/** For lists: without the input, which may be large, and its revision. */
export const ScheduleRow = ScheduleView.omit({ input_data: true, revision: true }).meta({
  id: 'ScheduleRow',
})

/** Configuration and input are spliced unchanged. */
export const viewOf = (schedule: Schedule): JsonText =>
  new JsonText(
    `${rowOf(schedule).text.slice(0, -1)},"revision":${JSON.stringify(schedule.revision ?? null)},"input_data":${schedule.input_json || 'null'}}`,
  )

export function rowOf(schedule: Schedule): JsonText {
  const { schedule_config_json, input_json: _, revision: __, ...rest } = schedule
  const view = {
    ...rest,
    description: rest.description ?? null,
    input_problem: rest.input_problem ?? null,
    run_as_service_account: rest.run_as_service_account ?? null,
    created_at: timeOf(rest.created_at),
    updated_at: timeOf(rest.updated_at),
    last_run_at: timeOf(rest.last_run_at),
    next_run_at: timeOf(rest.next_run_at),
  }
  return new JsonText(
    `${JSON.stringify(view).slice(0, -1)},"schedule_config":${schedule_config_json || '{}'}}`,
  )
}

export const HistoryView = z
  .object({
    schedule_id: z.string(),
    workflow_name: z.string(),
    entries: z.array(
      z.object({
        execution_id: z.string().nullable(),
        workflow_name: z.string(),
        state: z.string(),
        scheduled_for: time,
        started_at: time,
        completed_at: time,
        error: z.string().nullable(),
      }),
    ),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: 'ScheduleHistory' })
