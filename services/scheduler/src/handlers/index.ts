import type { SchedulerService } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { callerOf, type Handlers } from '@windlass/rpc/call'
import { notFound } from '@windlass/runtime/faults'
import { pauseLocked, resumeLocked } from '../change-locked.ts'
import type { SchedulerDeps } from '../deps.ts'
import * as schedules from '../store/schedules.ts'
import * as ticks from '../store/ticks.ts'
import { historyEntry, scheduleView } from '../views.ts'
import { create } from './create.ts'
import { forecast, next } from './forecast.ts'
import { update, updateLocked } from './update.ts'

const MAX_PAGE = 1_000
const DEFAULT_PAGE = 50

const pageOf = ({ limit, offset }: { limit: number; offset: number }) => ({
  limit: limit > 0 ? Math.min(limit, MAX_PAGE) : DEFAULT_PAGE,
  offset: Math.max(offset, 0),
})

export type Reconcile = (namespace: string, name: string) => Promise<void>

export const handlers = (
  parts: SchedulerDeps,
  reconcile: Reconcile,
): Handlers<typeof SchedulerService> => ({
  create: (request, call) => create(parts, request, callerOf(call)),

  async get({ ref }) {
    const row = await schedules.find(parts.db, ref)
    if (!row) throw notFound('Schedule', ref)
    return scheduleView(row, await schedules.inputOf(parts.db, row.id))
  },

  async list({ workflow_namespace, workflow_name, active_only, ...page }) {
    const filter = { workflow_namespace, workflow_name, active_only, ...pageOf(page) }
    const { schedules: rows, total } = await schedules.list(parts.db, filter)
    return { schedules: rows.map((row) => scheduleView(row)), total }
  },

  update: (request, call) => update(parts, request, callerOf(call)),

  pause: ({ ref }) =>
    updateLocked(parts, ref, async (tx, row) =>
      row.status === 'paused' ? row : pauseLocked(tx, row),
    ),

  resume: ({ ref }) =>
    updateLocked(parts, ref, async (tx, row) =>
      row.status === 'active' ? row : resumeLocked(tx, row),
    ),

  async delete({ ref }) {
    await parts.db.tx(async (tx) => {
      const row = await schedules.lock(tx, ref)
      if (!row) throw notFound('Schedule', ref)
      await schedules.remove(tx, row.id)
    })
    return {}
  },

  async history({ ref, ...page }) {
    const row = await schedules.find(parts.db, ref)
    if (!row) throw notFound('Schedule', ref)
    const { limit, offset } = pageOf(page)
    const entries = await ticks.page(parts.db, row.id, limit, offset)
    return {
      schedule_id: row.id,
      workflow_name: row.workflow_name,
      entries: entries.map((tick) => historyEntry(tick, row.workflow_name)),
      total: row.tick_count,
    }
  },

  next: (request) => next(parts, request),

  forecast: (request) => forecast(parts, request),

  async reconcile({ workflow_namespace, workflow_name }) {
    await reconcile(workflow_namespace, workflow_name)
    return {}
  },
})
