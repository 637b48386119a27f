import { path, toScheduleRef } from '@windlass/api-client/path'
import { getMembers, toJsonObject, toScheduleConfig } from '@windlass/api-client/payload'
import { elementsOf, membersOf, quote, stringOf } from '@windlass/runtime/json/json'
import { createApiCall, serverOptions } from '../api-call.ts'
import type { Command, ParsedArguments } from '../command.ts'
import { readInput, readText } from '../input.ts'
import { jsonOption, printJson, printRows } from '../output.ts'
import { scheduleMembers, scheduleOptions } from './schedule-update.ts'

const scheduleRefOf = ({ args }: ParsedArguments) => toScheduleRef(args[0] ?? '')

export const scheduleCreate: Command = {
  words: 'schedule create',
  args: ['name', 'workflow', 'config', 'input?'],
  about: 'Create a schedule; CONFIG is the JSON of its schedule_config, or @file',
  options: { ...scheduleOptions, ...serverOptions, ...jsonOption },
  async run(parsed, context) {
    const [name = '', workflow = '', config = '', input] = parsed.args
    const body = toJsonObject({
      name: quote(name),
      workflow_name: quote(workflow),
      schedule_config: toScheduleConfig(await readText(config)),
      input_data: input === undefined ? undefined : await readInput(input),
      ...scheduleMembers(parsed),
    })
    const answer = await createApiCall(
      parsed,
      context,
    )({ method: 'POST', path: path`/schedules`, body })
    printJson(context, answer)
    return 0
  },
}

export const scheduleList: Command = {
  words: 'schedule list',
  args: [],
  about: 'List the schedules, newest first',
  options: {
    workflow: { type: 'string', value: 'NAME', about: 'only of this workflow' },
    active: { type: 'boolean', about: 'only schedules that are not paused' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const { workflow, active } = parsed.options
    const query = { workflow_name: workflow?.toString(), active_only: String(active === true) }
    const rows = await createApiCall(
      parsed,
      context,
    )({ method: 'GET', path: path`/schedules`, query })
    const names = ['name', 'workflow_namespace', 'workflow_name', 'status', 'next_run_at', 'id']
    printRows(rows, names, parsed, context)
    return 0
  },
}

export const scheduleNext = createListCommand('next', 'List when a schedule fires next', {
  limit: { name: 'count', about: 'number of times (default 10)' },
  rows: 'next',
  columns: ['at', 'local'],
})

export const scheduleForecast: Command = {
  words: 'schedule forecast',
  args: [],
  about: 'List the next runs of all schedules',
  options: {
    hours: { type: 'string', value: 'N', about: 'how far ahead (default 168)' },
    limit: { type: 'string', value: 'N', about: 'at most this many (default 1000)' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const { hours, limit } = parsed.options
    const query = { hours: hours?.toString(), limit: limit?.toString() }
    const request = { method: 'GET', path: path`/schedules/forecast`, query } as const
    const answer = await createApiCall(parsed, context)(request)
    if (parsed.options.json) printJson(context, answer)
    else printRows(addScheduleNames(answer), ['at', 'name', 'workflow'], parsed, context)
    return 0
  },
}

/** Adds to the ticks of a forecast the names of their schedules. */
function addScheduleNames(forecast: string): string {
  const { ticks = '[]', schedules = '[]' } = getMembers(forecast, ['ticks', 'schedules'])
  const byId = new Map(
    (elementsOf(schedules) ?? []).map((schedule) => {
      const members = membersOf(schedule)
      const text = (name: string) => stringOf(members?.get(name)) ?? ''
      const workflow = `${text('workflow_namespace')}/${text('workflow_name')}`
      return [text('schedule_id'), { name: quote(text('name')), workflow: quote(workflow) }]
    }),
  )
  const rows = (elementsOf(ticks) ?? []).map((tick) => {
    const members = membersOf(tick)
    const schedule = byId.get(stringOf(members?.get('schedule_id')) ?? '')
    return toJsonObject({ at: members?.get('at'), ...schedule })
  })
  return `[${rows.join(',')}]`
}

export const scheduleHistory = createListCommand(
  'history',
  'List the runs that a schedule has started or skipped, newest first',
  {
    limit: { name: 'limit', about: 'at most this many (default 50)' },
    rows: 'entries',
    columns: ['scheduled_for', 'state', 'execution_id', 'error'],
  },
)

interface ListOptions {
  /** The parameter that bounds the list. */
  limit: { name: string; about: string }
  /** The member of the answer that holds it. */
  rows: string
  columns: string[]
}

/** A list that belongs to one schedule. */
function createListCommand(
  what: string,
  about: string,
  { limit, rows, columns }: ListOptions,
): Command {
  return {
    words: `schedule ${what}`,
    args: ['schedule'],
    about,
    options: {
      [limit.name]: { type: 'string', value: 'N', about: limit.about },
      ...serverOptions,
      ...jsonOption,
    },
    async run(parsed, context) {
      const at = path`/schedules/${scheduleRefOf(parsed)}`
      const query = { [limit.name]: parsed.options[limit.name]?.toString() }
      const answer = await createApiCall(
        parsed,
        context,
      )({ method: 'GET', path: `${at}/${what}`, query })
      if (parsed.options.json) printJson(context, answer)
      else printRows(getMembers(answer, [rows])[rows] ?? '[]', columns, parsed, context)
      return 0
    },
  }
}

const createActionCommand = (
  verb: string,
  about: string,
  method: 'POST' | 'GET' | 'DELETE',
): Command => ({
  words: `schedule ${verb}`,
  args: ['schedule'],
  about,
  options: { ...serverOptions, ...jsonOption },
  async run(parsed, context) {
    const schedule = path`/schedules/${scheduleRefOf(parsed)}`
    const at = method === 'POST' ? `${schedule}/${verb}` : schedule
    printJson(context, await createApiCall(parsed, context)({ method, path: at }))
    return 0
  },
})

export const scheduleShow = createActionCommand('show', 'Show a schedule, by its id or name', 'GET')
export const schedulePause = createActionCommand('pause', 'Pause a schedule', 'POST')
export const scheduleResume = createActionCommand('resume', 'Resume a paused schedule', 'POST')
export const scheduleDelete = createActionCommand(
  'delete',
  'Delete a schedule and its history',
  'DELETE',
)
