import type { CommandOption, ParsedArguments } from './command.ts'

const NEEDS = 'needs a workflow, a schedule or a time'

type Filter = [option: string, parameter: string, value: string, about: string]

/** Filters of executions: the option, the parameter of the API, the placeholder, the help. */
const FILTERS: Filter[] = [
  ['state', 'state', 'STATES', 'only in these states, separated by commas'],
  ['exclude-state', 'exclude_state', 'STATES', 'not in these states'],
  ['namespace', 'namespace', 'NAME', 'only of this namespace'],
  ['workflow', 'workflow_name', 'NAME', 'only of workflows of this name'],
  ['version', 'version', 'N', 'only of this version; needs a workflow'],
  ['schedule', 'schedule_id', 'ID', 'only started by this schedule'],
  ['worker', 'worker_name', 'NAME', 'only with this worker, now or last'],
  ['created-by', 'created_by', 'SUBJECT', 'only started by this principal'],
  ['parent', 'parent_id', 'ID', 'only nested runs of this execution'],
  ['created-after', 'created_after', 'TIME', 'only created since (RFC 3339)'],
  ['created-before', 'created_before', 'TIME', 'only created before'],
  ['finished-after', 'finished_after', 'TIME', 'only ended since'],
  ['finished-before', 'finished_before', 'TIME', 'only ended before'],
  ['min-duration', 'min_duration', 'SECONDS', `only at least this long; ${NEEDS}`],
  ['max-duration', 'max_duration', 'SECONDS', `only at most this long; ${NEEDS}`],
  ['id', 'id', 'HEX', 'only with an id that begins so; 8 digits or more'],
  ['tags', 'tags', 'KEY=VALUE,…', 'only with these tags'],
  ['error', 'error', 'TEXT', `only with this in the error; ${NEEDS}`],
  [
    'payload',
    'payload',
    'input.PATH=VALUE',
    'only with this value in the input or output; needs a workflow, a schedule, a parent or tags',
  ],
]

const PAGE: Filter[] = [
  ['sort', 'sort', 'ORDER', 'created, finished, or --sort=-created (default), --sort=-finished'],
  ['cursor', 'cursor', 'CURSOR', 'continue at `next_cursor` of the page before'],
  ['limit', 'limit', 'N', 'at most this many (default 50)'],
]

const optionsOf = (filters: Filter[]): Record<string, CommandOption> =>
  Object.fromEntries(
    filters.map(([option, , value, about]) => [option, { type: 'string', value, about }]),
  )

const readerOf = (filters: Filter[]) => (options: ParsedArguments['options']) =>
  Object.fromEntries(
    filters.map(([option, parameter]) => [parameter, options[option]?.toString()]),
  ) as Record<string, string | undefined>

export const filterOptions = optionsOf(FILTERS)
export const pageOptions = optionsOf(PAGE)

/** Returns the filters that are given, by the parameter of the API. */
export const filtersOf = readerOf(FILTERS)
export const pageOf = readerOf(PAGE)
