import { membersOf, quote, stringOf } from '@windlass/runtime/json/json'
import { read, send, sendRepeatable } from './server.ts'

export interface ScheduleRow {
  id: string
  workflow_namespace: string
  workflow_name: string
  name: string
  description: string | null
  schedule_type: string
  status: string
  last_run_at: string | null
  next_run_at: string | null
  run_count: number
  failure_count: number
  run_as_service_account: string | null
  overlap: string
  schedule_config: Record<string, unknown>
  /** Reason why the latest version of the workflow refuses its input. */
  input_problem: string | null
}

export interface Schedule extends ScheduleRow {
  /** JSON text of the input, exactly as it is stored. */
  input: string
  /** Names the state that a change is for; null from a scheduler of an earlier release. */
  revision: string | null
}

/** A tick and its outcome. */
export interface TickRow {
  execution_id: string | null
  state: string
  scheduled_for: string | null
  error: string | null
}

export interface ClockChange {
  at: string
  kind: 'gap' | 'fold'
  timezone: string
  local_times: string[]
}

export interface Forecast {
  from: string
  to: string
  ticks: { at: string; schedule_id: string }[]
  /** Later ticks are left out. */
  complete_until: string | null
  schedules: {
    schedule_id: string
    name: string
    workflow_namespace: string
    workflow_name: string
    listed_until: string | null
    clock_changes: ClockChange[]
  }[]
  clashes: { at: string; count: number; schedule_ids: string[]; workflows: string[] }[]
  looked_at: number
  active: number
}

const pathOf = (id: string) => `/schedules/${encodeURIComponent(id)}`

/** All schedules that the caller may read, paused ones too. */
export const listSchedules = (signal?: AbortSignal) =>
  read<ScheduleRow[]>('/schedules', { limit: '1000', active_only: 'false' }, signal)

/** Schedules of the workflows of a name, in all namespaces. */
export const listSchedulesOf = (workflow_name: string, signal?: AbortSignal) =>
  read<ScheduleRow[]>('/schedules', { workflow_name, limit: '1000' }, signal)

/** Reads one schedule; its input stays text. */
export async function getSchedule(id: string, signal?: AbortSignal): Promise<Schedule> {
  const answer = await send({ method: 'GET', path: pathOf(id) }, signal)
  const row = JSON.parse(answer) as Omit<Schedule, 'input'>
  return { ...row, input: membersOf(answer)?.get('input_data') ?? 'null' }
}

/** Pauses or resumes a schedule. */
export const switchSchedule = (id: string, act: 'pause' | 'resume') =>
  sendRepeatable({ method: 'POST', path: `${pathOf(id)}/${act}` })

export const deleteSchedule = (id: string) => send({ method: 'DELETE', path: pathOf(id) })

export interface ScheduleDraft {
  config: Record<string, unknown>
  overlap: string
  /** JSON text. */
  input: string
}

const membersFor = ({ config, overlap, input }: ScheduleDraft) => [
  `"schedule_config":${JSON.stringify(config)}`,
  `"overlap":${quote(overlap)}`,
  `"input_data":${input}`,
]

/** Creates a schedule; returns its id. */
export async function createSchedule(
  workflow: { namespace: string; name: string },
  name: string,
  draft: ScheduleDraft,
): Promise<string> {
  const named = [
    `"workflow_namespace":${quote(workflow.namespace)}`,
    `"workflow_name":${quote(workflow.name)}`,
    `"name":${quote(name)}`,
  ]
  const body = `{${[...named, ...membersFor(draft)]}}`
  const answer = await send({ method: 'POST', path: '/schedules', body })
  return stringOf(membersOf(answer)?.get('id')) ?? ''
}

/** Changes a schedule if it still has the revision of this state of it. */
export const updateSchedule = ({ id, revision }: Schedule, draft: ScheduleDraft) =>
  sendRepeatable({
    method: 'PUT',
    path: pathOf(id),
    body: `{${membersFor(draft)}}`,
    ifRevision: revision ?? undefined,
  })

/** Ticks of a schedule, newest first. */
export const getHistory = (
  id: string,
  page: { limit: number; offset: number },
  signal?: AbortSignal,
) =>
  read<{ entries: TickRow[]; total: number }>(
    `${pathOf(id)}/history`,
    { limit: String(page.limit), offset: String(page.offset) },
    signal,
  )

export const getForecast = (signal?: AbortSignal) =>
  read<Forecast>('/schedules/forecast', { hours: '168', limit: '10000' }, signal)

/** Maximum number of next ticks that are read. */
export const NEXT_TICKS = 5

export const getNextTicks = (id: string, signal?: AbortSignal) =>
  read<{ timezone: string; next: { at: string; local: string }[]; clock_changes: ClockChange[] }>(
    `${pathOf(id)}/next`,
    { count: String(NEXT_TICKS) },
    signal,
  )
