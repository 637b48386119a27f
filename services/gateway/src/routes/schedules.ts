import { objects } from '@windlass/domain/audit'
import { splitWorkflowRef } from '@windlass/domain/names'
import { toVisibilityMessage } from '@windlass/domain/visibility'
import { z } from 'zod'
import { type Caller, onBehalfOf } from '../access/caller.ts'
import { mayNameAccounts, requireAccount } from '../access/schedule.ts'
import type { Clients } from '../clients/connect.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { JsonText } from '../domain/views.ts'
import { json } from '../route/body.ts'
import { flag, integer, nameFilter, page } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { changeHeaders, readPrecondition, sendRevision } from './preconditions.ts'
import { requireFiltered, timeOf } from './responses.ts'
import {
  HistoryView,
  NewSchedule,
  rowOf,
  ScheduleChange,
  ScheduleRow,
  ScheduleView,
  viewOf,
} from './schedule-views.ts'
import { Success } from './schemas.ts'

type Deps = Pick<Clients, 'principals' | 'scheduler'>

const keptText = (value: JsonText | undefined) => (value?.text === 'null' ? undefined : value?.text)

/** A schedule in a path: by id or name. */
const named = ({ params }: { params: { schedule_id: string } }) =>
  objects.schedule(params.schedule_id)

export const createSchedule = route('post', '/schedules', {
  summary: 'Create a schedule',
  access: 'may create schedule',
  body: json(NewSchedule, { payloads: ['input_data'], texts: ['schedule_config'] }),
  returns: ScheduleView,
  audit: {
    action: 'schedule.create',
    object: ({ body }) => objects.schedule(body?.name),
    recorded: 'around',
  },
  async handle({ body, resolved: workflow, caller, ctx }, deps: Deps) {
    const { run_as_service_account } = body
    if (run_as_service_account) await requireAccount(caller, deps, run_as_service_account)
    return viewOf(
      await deps.scheduler.create(
        {
          ...workflow,
          name: body.name,
          schedule_config_json: body.schedule_config?.text ?? '',
          description: body.description ?? undefined,
          input_json: body.input_data?.text ?? 'null',
          run_as_service_account: run_as_service_account ?? undefined,
          overlap: body.overlap ?? undefined,
        },
        onBehalfOf(ctx, caller),
      ),
    )
  },
})

export const listSchedules = route('get', '/schedules', {
  summary: 'List schedules, newest first',
  access: 'may list schedules',
  query: {
    workflow_name: nameFilter,
    active_only: flag.default(true),
    limit: integer({ min: 1, max: 1000 }).default(1000),
    offset: page.offset,
  },
  returns: z.array(ScheduleRow),
  async handle({ query: { workflow_name, ...query }, resolved: visible }, { scheduler }: Deps) {
    const isFull = workflow_name.includes('/')
    const { namespace, name } = splitWorkflowRef(workflow_name)
    const page = await scheduler.list({
      ...query,
      visible: toVisibilityMessage(visible),
      workflow_namespace: isFull ? namespace : '',
      workflow_name: name,
    })
    requireFiltered(page, visible)
    return new JsonText(`[${page.schedules.map((schedule) => rowOf(schedule).text).join(',')}]`)
  },
})

export const getSchedule = route('get', '/schedules/{schedule_id}', {
  summary: 'Show a schedule, by its id or name',
  access: 'may read schedule',
  returns: ScheduleView,
  async handle({ resolved, ctx }) {
    sendRevision(ctx, resolved.revision)
    return viewOf(resolved)
  },
})

export const updateSchedule = route('put', '/schedules/{schedule_id}', {
  summary: 'Change a schedule; absent and null members stay unchanged',
  access: 'may manage schedule',
  headers: changeHeaders,
  body: json(ScheduleChange, { payloads: ['input_data'], texts: ['schedule_config'] }),
  returns: ScheduleView,
  audit: { action: 'schedule.update', object: named, recorded: 'around' },
  async handle({ body, resolved: { ref }, caller, ctx }, deps: Deps) {
    const precondition = readPrecondition(ctx)
    const update = {
      ref,
      schedule_config_json: keptText(body.schedule_config),
      description: body.description ?? undefined,
      input_json: keptText(body.input_data),
      run_as_service_account: await accountFor(caller, deps, body, ref),
      overlap: body.overlap ?? undefined,
      may_name_accounts: mayNameAccounts(caller),
    }
    const by = onBehalfOf(ctx, caller)
    const saving = precondition
      ? orUpgrade(deps.scheduler.updateIf({ update, precondition }, by), 'scheduler')
      : deps.scheduler.update(update, by)
    const schedule = await saving
    sendRevision(ctx, schedule.revision)
    return viewOf(schedule)
  },
})

/**
 * Returns the account that a change sets. A request that changes nothing else may repeat the account
 * that the schedule has; with another change the caller must be allowed to name it.
 */
async function accountFor(
  caller: Caller,
  deps: Deps,
  { run_as_service_account: named, ...changes }: z.output<typeof ScheduleChange>,
  ref: string,
): Promise<string | undefined> {
  if (!named) return named ?? undefined
  const isAlone =
    !changes.overlap && !keptText(changes.schedule_config) && !keptText(changes.input_data)
  if (isAlone) {
    const known = await deps.scheduler.get({ ref })
    if (known.run_as_service_account === named) return undefined
  }
  await requireAccount(caller, deps, named)
  return named
}

export const pauseSchedule = route('post', '/schedules/{schedule_id}/pause', {
  summary: 'Pause a schedule',
  access: 'may manage schedule',
  returns: ScheduleView,
  audit: { action: 'schedule.pause', object: named, recorded: 'around' },
  handle: async ({ resolved, caller, ctx }, { scheduler }: Deps) =>
    viewOf(await scheduler.pause(resolved, onBehalfOf(ctx, caller))),
})

export const resumeSchedule = route('post', '/schedules/{schedule_id}/resume', {
  summary: 'Resume a schedule',
  access: 'may manage schedule',
  returns: ScheduleView,
  audit: { action: 'schedule.resume', object: named, recorded: 'around' },
  handle: async ({ resolved: { ref }, caller, ctx }, { scheduler }: Deps) => {
    const request = { ref, may_name_accounts: mayNameAccounts(caller) }
    return viewOf(await scheduler.resume(request, onBehalfOf(ctx, caller)))
  },
})

export const deleteSchedule = route('delete', '/schedules/{schedule_id}', {
  summary: 'Delete a schedule',
  access: 'may manage schedule',
  returns: Success,
  audit: { action: 'schedule.delete', object: named, recorded: 'around' },
  async handle({ params, resolved, caller, ctx }, { scheduler }: Deps) {
    await scheduler.delete(resolved, onBehalfOf(ctx, caller))
    const message = `Schedule '${params.schedule_id}' deleted successfully`
    return { status: 'success' as const, message }
  },
})

export const getScheduleHistory = route('get', '/schedules/{schedule_id}/history', {
  summary: 'List the ticks of a schedule, newest first',
  access: 'may read history',
  query: page,
  returns: HistoryView,
  async handle({ query, resolved }, { scheduler }: Deps) {
    const history = await scheduler.history({ ...resolved, ...query })
    const entries = history.entries.map((entry) => ({
      ...entry,
      execution_id: entry.execution_id || null,
      scheduled_for: timeOf(entry.scheduled_for),
      started_at: timeOf(entry.started_at),
      completed_at: timeOf(entry.completed_at),
      error: entry.error ?? null,
    }))
    const { schedule_id, workflow_name, total } = history
    return { schedule_id, workflow_name, entries, total, ...query }
  },
})
