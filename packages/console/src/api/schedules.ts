import { read, send } from './server.ts'

export interface ScheduleRow {
  id: string
  workflow_namespace: string
  workflow_name: string
  name: string
  schedule_type: string
  status: string
  last_run_at: string | null
  next_run_at: string | null
  run_count: number
  failure_count: number
  schedule_config: Record<string, unknown>
}

export const listSchedules = (signal?: AbortSignal) =>
  read<ScheduleRow[]>('/schedules', { limit: '1000' }, signal)

/** Pauses or resumes a schedule. */
export const switchSchedule = (id: string, act: 'pause' | 'resume') =>
  send({ method: 'POST', path: `/schedules/${encodeURIComponent(id)}/${act}` })
