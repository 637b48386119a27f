import { ArgumentError } from '@windlass/api-client/errors'
import { path, toScheduleRef } from '@windlass/api-client/path'
import { toJsonObject, toPayload, toScheduleConfig } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { messageResult, pageArgs, pageOf, selectMembers, wrapAs, wrapListAs } from './shared.ts'

const CONFIG =
  'As JSON: {"type":"cron","cron_expression":"0 9 * * 1-5","timezone":"Europe/Berlin"}, {"type":"interval","interval_seconds":300} or {"type":"once","run_time":"2030-01-31T08:00:00Z"}'

const refArg = { schedule_id: z.string().describe('Id or name of the schedule') }

const optional = (description: string) => z.string().nullable().default(null).describe(description)

const textArgs = {
  description: optional('Purpose of the schedule'),
  input_data: optional('The input of its executions, as JSON'),
}

const scheduleNotFound = ({ schedule_id }: { schedule_id: string }) =>
  `Schedule '${schedule_id}' not found`

/** Empty texts are ignored, except for the description, which can be emptied. */
const changesOf = (args: { description: string | null; input_data: string | null }) => ({
  description: args.description === null ? undefined : quote(args.description),
  input_data: args.input_data ? toPayload(args.input_data) : undefined,
})

export const createSchedule = defineTool({
  name: 'create_schedule',
  title: 'Create schedule',
  description: 'Create a schedule that starts a workflow at given times.',
  args: {
    workflow_name: z.string().describe('`name`, or `namespace/name`'),
    name: z.string().describe('Name of the schedule, unique'),
    schedule_config: z.string().describe(CONFIG),
    ...textArgs,
  },
  request: ({ workflow_name, name, schedule_config, ...rest }) => ({
    method: 'POST',
    path: path`/schedules`,
    body: toJsonObject({
      workflow_name: quote(workflow_name),
      name: quote(name),
      schedule_config: toScheduleConfig(schedule_config),
      ...changesOf(rest),
    }),
  }),
  ...wrapAs('schedule'),
  errors: { 404: ({ workflow_name }) => `Workflow '${workflow_name}' not found` },
  doing: 'creating schedule',
  effect: 'creates',
})

export const listSchedules = defineTool({
  name: 'list_schedules',
  title: 'List schedules',
  description: 'List schedules, newest first; paused ones only with active_only false.',
  args: {
    workflow_name: optional('Only of this workflow: `name`, or `namespace/name`'),
    active_only: z.boolean().default(true).describe('List only schedules that are not paused'),
    limit: z.int().nullable().default(null).describe('Maximum number of items'),
    offset: z.int().nullable().default(null).describe('Number of items to skip'),
  },
  request: ({ workflow_name, active_only, limit, offset }) => ({
    method: 'GET',
    path: path`/schedules`,
    query: {
      workflow_name: workflow_name ?? undefined,
      active_only: String(active_only),
      limit: limit?.toString(),
      offset: offset?.toString(),
    },
  }),
  ...wrapListAs('schedules'),
  doing: 'listing schedules',
  effect: 'reads',
})

export const getSchedule = defineTool({
  name: 'get_schedule',
  title: 'Get schedule',
  description: 'Show a schedule and its next run.',
  args: refArg,
  request: ({ schedule_id }) => ({
    method: 'GET',
    path: path`/schedules/${toScheduleRef(schedule_id)}`,
  }),
  ...wrapAs('schedule'),
  errors: { 404: scheduleNotFound },
  doing: 'retrieving schedule',
  effect: 'reads',
})

export const updateSchedule = defineTool({
  name: 'update_schedule',
  title: 'Update schedule',
  description:
    'Change the times, the description or the input of a schedule; members that are not given stay unchanged.',
  args: { ...refArg, schedule_config: optional(CONFIG), ...textArgs },
  request({ schedule_id, schedule_config, ...rest }) {
    const ref = path`/schedules/${toScheduleRef(schedule_id)}`
    const changes = {
      schedule_config: schedule_config ? toScheduleConfig(schedule_config) : undefined,
      ...changesOf(rest),
    }
    if (Object.values(changes).every((change) => change === undefined))
      throw new ArgumentError('No update parameters provided')
    return { method: 'PUT', path: ref, body: toJsonObject(changes) }
  },
  ...wrapAs('schedule'),
  errors: { 404: scheduleNotFound },
  doing: 'updating schedule',
  effect: 'updates',
})

export const pauseSchedule = defineTool({
  name: 'pause_schedule',
  title: 'Pause schedule',
  description: 'Pause a schedule; it does not fire until it is resumed.',
  args: refArg,
  request: ({ schedule_id }) => ({
    method: 'POST',
    path: path`/schedules/${toScheduleRef(schedule_id)}/pause`,
  }),
  ...wrapAs('schedule'),
  errors: { 404: scheduleNotFound },
  doing: 'pausing schedule',
  effect: 'updates',
})

export const resumeSchedule = defineTool({
  name: 'resume_schedule',
  title: 'Resume schedule',
  description: 'Resume a paused schedule; it fires again from its next time on.',
  args: refArg,
  request: ({ schedule_id }) => ({
    method: 'POST',
    path: path`/schedules/${toScheduleRef(schedule_id)}/resume`,
  }),
  ...wrapAs('schedule'),
  errors: { 404: scheduleNotFound },
  doing: 'resuming schedule',
  effect: 'updates',
})

export const deleteSchedule = defineTool({
  name: 'delete_schedule',
  title: 'Delete schedule',
  description: 'Delete a schedule and its history.',
  args: refArg,
  request: ({ schedule_id }) => ({
    method: 'DELETE',
    path: path`/schedules/${toScheduleRef(schedule_id)}`,
  }),
  ...messageResult,
  errors: { 404: scheduleNotFound },
  doing: 'deleting schedule',
  effect: 'deletes',
})

export const getScheduleHistory = defineTool({
  name: 'get_schedule_history',
  title: 'Get schedule history',
  description: 'List the runs that a schedule has started or skipped, newest first.',
  args: { ...refArg, ...pageArgs },
  request: ({ schedule_id, limit, offset }) => ({
    method: 'GET',
    path: path`/schedules/${toScheduleRef(schedule_id)}/history`,
    query: { limit: String(limit), offset: String(offset) },
  }),
  ...selectMembers({
    schedule_id: z.string(),
    workflow_name: z.string(),
    ...pageOf('entries'),
  }),
  errors: { 404: scheduleNotFound },
  doing: 'retrieving schedule history',
  effect: 'reads',
})
