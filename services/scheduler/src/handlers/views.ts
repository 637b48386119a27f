import { revisionOf } from '@windlass/domain/revision'
import type { HistoryEntry, Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import type { ScheduleRow } from '../store/schedules.ts'
import type { TickRow } from '../store/ticks.ts'

/** Lists omit the input, which may be large and which no list displays, and with it the revision. */
export function toScheduleView(row: ScheduleRow, input?: string): Schedule {
  const { schedule_config, ...members } = row
  return {
    ...members,
    schedule_config_json: schedule_config,
    input_json: input ?? '',
    revision: input === undefined ? undefined : revisionOfSchedule(row, input),
  }
}

/** Names the state of what a client can change with one request; a pause and a tick leave it as it is. */
export const revisionOfSchedule = (
  {
    schedule_config,
    description,
    run_as_service_account,
    overlap,
  }: Pick<ScheduleRow, 'schedule_config' | 'description' | 'run_as_service_account' | 'overlap'>,
  input: string | undefined,
): string => revisionOf([schedule_config, description, run_as_service_account, overlap, input])

const STATES = {
  pending: 'PENDING',
  queued: 'QUEUED',
  started: 'SCHEDULED',
  failed: 'FAILED',
  skipped: 'SKIPPED',
}

/** History entry of a tick. A tick without an execution has an error in its place. */
export function toHistoryEntry(tick: TickRow, workflow_name: string): HistoryEntry {
  const isRun = tick.status === 'pending' || tick.status === 'started'
  return {
    execution_id: (isRun && tick.execution_id) || '',
    workflow_name,
    state: tick.state ?? STATES[tick.status],
    scheduled_for: tick.nominal_at,
    started_at: tick.started_at,
    completed_at: tick.completed_at,
    error: errorOf(tick),
  }
}

function errorOf({ skipped_from, nominal_at, error }: TickRow): string | undefined {
  if (!skipped_from || skipped_from >= nominal_at) return error
  return `${error} (every tick from ${skipped_from.toISOString()} to ${nominal_at.toISOString()})`
}
