import { readVisibility } from '@windlass/domain/visibility'
import type { SchedulerService } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { callerOf, type Handlers } from '@windlass/rpc/call'
import { notFound } from '@windlass/runtime/faults'
import { pauseLocked, resumeLocked } from '../engine/change-locked.ts'
import type { SchedulerDeps } from '../engine/deps.ts'
import { ownedAfterResume } from '../engine/owner.ts'
import * as schedules from '../store/schedules.ts'
import * as ticks from '../store/ticks.ts'
import { createSchedule } from './create.ts'
import { forecastTicks, listNextTicks } from './forecast.ts'
import { updateLocked, updateSchedule, updateScheduleIf } from './update.ts'
import { toHistoryEntry, toScheduleView } from './views.ts'

const MAX_PAGE = 1_000
const DEFAULT_PAGE = 50

const pageOf = ({ limit, offset }: { limit: number; offset: number }) => ({
  limit: limit > 0 ? Math.min(limit, MAX_PAGE) : DEFAULT_PAGE,
  offset: Math.max(offset, 0),
})

export type Reconcile = (namespace: string, name: string) => Promise<void>

export const handlers = (
  deps: SchedulerDeps,
  reconcile: Reconcile,
): Handlers<typeof SchedulerService> => ({
  create: (request, call) => createSchedule(deps, request, callerOf(call)),

  async get({ ref }) {
    const row = await schedules.find(deps.db, ref)
    if (!row) throw notFound('Schedule', ref)
    return toScheduleView(row, await schedules.readInput(deps.db, row.id))
  },

  async list({ workflow_namespace, workflow_name, active_only, visible, ...page }) {
    const filter = {
      ...{ workflow_namespace, workflow_name, active_only },
      ...{ visible: readVisibility(visible), ...pageOf(page) },
    }
    const { schedules: rows, total } = await schedules.list(deps.db, filter)
    return { schedules: rows.map((row) => toScheduleView(row)), total, filtered: true }
  },

  update: (request, call) => updateSchedule(deps, request, callerOf(call)),

  updateIf: (request, call) => updateScheduleIf(deps, request, callerOf(call)),

  pause: ({ ref }) =>
    updateLocked(deps, ref, async (tx, row) =>
      row.status === 'paused' ? row : pauseLocked(tx, row),
    ),

  resume: ({ ref, may_name_accounts = false }, call) =>
    updateLocked(deps, ref, async (tx, row) => {
      if (row.status === 'active') return row
      return resumeLocked(tx, ownedAfterResume(row, { ...callerOf(call), may_name_accounts }))
    }),

  async delete({ ref }) {
    await deps.db.tx(async (tx) => {
      const row = await schedules.lock(tx, ref)
      if (!row) throw notFound('Schedule', ref)
      await schedules.remove(tx, row.id)
    })
    return {}
  },

  async history({ ref, ...page }) {
    const row = await schedules.find(deps.db, ref)
    if (!row) throw notFound('Schedule', ref)
    const { limit, offset } = pageOf(page)
    const entries = await ticks.listPage(deps.db, row.id, limit, offset)
    return {
      schedule_id: row.id,
      workflow_name: row.workflow_name,
      entries: entries.map((tick) => toHistoryEntry(tick, row.workflow_name)),
      total: row.tick_count,
    }
  },

  next: (request) => listNextTicks(deps, request),

  forecast: (request) => forecastTicks(deps, request),

  async reconcile({ workflow_namespace, workflow_name }) {
    await reconcile(workflow_namespace, workflow_name)
    return {}
  },
})
