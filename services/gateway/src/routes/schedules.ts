import { objects } from '@windlass/domain/audit'
import { namespaceOf, splitWorkflowRef, workflowNameOf } from '@windlass/domain/names'
import { unprocessable } from '@windlass/runtime/faults'
import { z } from 'zod'
import { type Caller, onBehalfOf } from '../access/caller.ts'
import { requireAccount } from '../access/schedule.ts'
import type { Clients } from '../clients/connect.ts'
import { JsonText } from '../domain/views.ts'
import { json } from '../route/body.ts'
import { flag, integer, page, text } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { timeOf } from './responses.ts'
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
  access: 'schedule:*:manage',
  body: json(NewSchedule, { payloads: ['input_data'], texts: ['schedule_config'] }),
  returns: ScheduleView,
  audit: {
    action: 'schedule.create',
    object: ({ body }) => objects.schedule(body?.name),
    recorded: 'around',
  },
  async handle({ body, caller, ctx }, deps: Deps) {
    const { run_as_service_account } = body
    if (run_as_service_account) await requireAccount(caller, deps, run_as_service_account)
    return viewOf(
      await deps.scheduler.create(
        {
          ...workflowOf(body),
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

function workflowOf(body: z.output<typeof NewSchedule>) {
  const { namespace, name } = body.workflow_namespace
    ? { namespace: body.workflow_namespace, name: body.workflow_name }
    : splitWorkflowRef(body.workflow_name)
  const workflow_namespace = namespaceOf(namespace)
  const workflow_name = workflowNameOf(name)
  if (workflow_namespace !== undefined && workflow_name !== undefined)
    return { workflow_namespace, workflow_name }
  throw unprocessable({
    loc: ['body', workflow_namespace === undefined ? 'workflow_namespace' : 'workflow_name'],
    msg: 'is no name of a workflow',
    type: 'value_error',
  })
}

export const listSchedules = route('get', '/schedules', {
  summary: 'List schedules, newest first',
  access: 'schedule:*:read',
  query: {
    workflow_name: text(255).default(''),
    active_only: flag.default(true),
    limit: integer({ min: 1, max: 1000 }).default(1000),
    offset: page.offset,
  },
  returns: z.array(ScheduleRow),
  async handle({ query: { workflow_name, ...query } }, { scheduler }: Deps) {
    const isFull = workflow_name.includes('/')
    const { namespace, name } = splitWorkflowRef(workflow_name)
    const { schedules } = await scheduler.list({
      ...query,
      workflow_namespace: isFull ? namespace : '',
      workflow_name: name,
    })
    return new JsonText(`[${schedules.map((schedule) => rowOf(schedule).text).join(',')}]`)
  },
})

export const getSchedule = route('get', '/schedules/{schedule_id}', {
  summary: 'Show a schedule, by its id or name',
  access: 'may read schedule',
  returns: ScheduleView,
  handle: async ({ resolved }) => viewOf(resolved),
})

export const updateSchedule = route('put', '/schedules/{schedule_id}', {
  summary: 'Change a schedule; absent and null members stay unchanged',
  access: 'schedule:*:manage',
  body: json(ScheduleChange, { payloads: ['input_data'], texts: ['schedule_config'] }),
  returns: ScheduleView,
  audit: { action: 'schedule.update', object: named, recorded: 'around' },
  async handle({ params, body, caller, ctx }, deps: Deps) {
    const ref = params.schedule_id
    return viewOf(
      await deps.scheduler.update(
        {
          ref,
          schedule_config_json: keptText(body.schedule_config),
          description: body.description ?? undefined,
          input_json: keptText(body.input_data),
          run_as_service_account: await accountFor(caller, deps, { ...body, ref }),
          overlap: body.overlap ?? undefined,
        },
        onBehalfOf(ctx, caller),
      ),
    )
  },
})

/** Returns the account that a change sets; undefined if the schedule has it already. */
async function accountFor(
  caller: Caller,
  deps: Deps,
  { ref, run_as_service_account: named }: { ref: string; run_as_service_account?: string | null },
): Promise<string | undefined> {
  if (!named) return named ?? undefined
  const known = await deps.scheduler.get({ ref })
  if (known.run_as_service_account === named) return undefined
  await requireAccount(caller, deps, named)
  return named
}

export const pauseSchedule = route('post', '/schedules/{schedule_id}/pause', {
  summary: 'Pause a schedule',
  access: 'schedule:*:manage',
  returns: ScheduleView,
  audit: { action: 'schedule.pause', object: named, recorded: 'around' },
  handle: async ({ params, caller, ctx }, { scheduler }: Deps) =>
    viewOf(await scheduler.pause({ ref: params.schedule_id }, onBehalfOf(ctx, caller))),
})

export const resumeSchedule = route('post', '/schedules/{schedule_id}/resume', {
  summary: 'Resume a schedule',
  access: 'schedule:*:manage',
  returns: ScheduleView,
  audit: { action: 'schedule.resume', object: named, recorded: 'around' },
  handle: async ({ params, caller, ctx }, { scheduler }: Deps) =>
    viewOf(await scheduler.resume({ ref: params.schedule_id }, onBehalfOf(ctx, caller))),
})

export const deleteSchedule = route('delete', '/schedules/{schedule_id}', {
  summary: 'Delete a schedule',
  access: 'schedule:*:manage',
  returns: Success,
  audit: { action: 'schedule.delete', object: named, recorded: 'around' },
  async handle({ params: { schedule_id: ref }, caller, ctx }, { scheduler }: Deps) {
    await scheduler.delete({ ref }, onBehalfOf(ctx, caller))
    return { status: 'success' as const, message: `Schedule '${ref}' deleted successfully` }
  },
})

export const getScheduleHistory = route('get', '/schedules/{schedule_id}/history', {
  summary: 'List the ticks of a schedule, newest first',
  access: 'schedule:*:read',
  query: page,
  returns: HistoryView,
  async handle({ params, query }, { scheduler }: Deps) {
    const history = await scheduler.history({ ref: params.schedule_id, ...query })
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
