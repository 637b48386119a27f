import { isState, STATES, type State } from '@windlass/domain/states'
import type { ListRequest } from '@windlass/proto/windlass/executions/v1/executions'
import type { SearchRequest } from '@windlass/proto/windlass/executions/v1/history'
import { invalid, type Problem, unprocessable } from '@windlass/runtime/faults'
import { z } from 'zod'
import { id, nameFilter, page, tags, text, time, versionQuery } from '../route/fields.ts'

/** A search without the visibility of its caller. */
export type Search = Omit<SearchRequest, 'visible'>

const name = text(255).default('')
const MAX_DURATION = 31_536_000
const ID = '0199f3c2a1b47c3e8d5f6a7b8c9d0e1f'
const FROM = '2026-11-23T08:00:00Z'
const TO = '2026-11-23T09:00:00Z'

const duration = z
  .string()
  .regex(/^\d{1,12}(\.\d+)?$/, 'must be a number of seconds')
  .transform(Number)
  .pipe(z.number().max(MAX_DURATION))
  .optional()
  .meta({ wire: { type: 'number', minimum: 0, maximum: MAX_DURATION } })

/** Fewer digits would match too much, because ids begin with their time. */
const ID_PREFIX = /^[0-9A-Fa-f]{8}[0-9A-Fa-f-]{0,28}$/

const SORTS = ['-created', 'created', '-finished', 'finished'] as const

/** Value of a filter for the documents. */
const example = (value: string | number) => ({ examples: [value] })

/** Filters of the list of all executions. */
export const workflowQuery = {
  workflow_name: nameFilter.meta(example('order')),
  namespace: name.meta(example('team')),
}

/** Filters of every list of executions; all that are given must match. */
export const searchQuery = {
  /** One or several, separated by commas. */
  state: name.meta(example('failed,paused')),
  /** States to leave out. */
  exclude_state: name.meta(example('completed')),
  version: versionQuery.meta(example(3)),
  schedule_id: id.optional().meta(example(ID)),
  /** The current worker, or the last one. */
  worker_name: name.meta(example('worker-1')),
  created_by: name.meta(example('ann')),
  parent_id: id.optional().meta(example(ID)),
  created_after: time.meta(example(FROM)),
  created_before: time.meta(example(TO)),
  finished_after: time.meta(example(FROM)),
  finished_before: time.meta(example(TO)),
  /** Seconds from the first claim to the end, or to now. */
  min_duration: duration.meta(example(60)),
  max_duration: duration.meta(example(3_600)),
  /** The first 8 hex digits or more. */
  id: z
    .string()
    .regex(ID_PREFIX, 'must be the first 8 to 32 hex digits of an id')
    .default('')
    .meta({ wire: { type: 'string' }, ...example(ID.slice(0, 8)) }),
  /** Part of the first line of the error. */
  error: name.meta(example('no stock')),
  /** `input.<path>=<value>` or `output.<path>=<value>`; the path has names and positions between dots. */
  payload: text(1_024).default('').meta(example('input.order.id=7')),
  tags: tags.meta(example('team=billing,env=prod')),
  /** With a filter by the end of executions `-finished`, otherwise `-created`: newest first. */
  sort: z.enum(SORTS).optional(),
  cursor: text(512).default(''),
  ...page,
}

type Query = z.output<z.ZodObject<typeof searchQuery & typeof workflowQuery>>

/** Converts a query to a search. Throws `invalid` for an unknown state, `unprocessable` for other problems. */
export function searchOf(query: Query): Search {
  const problems = [...missingCompanions(query), ...orderProblems(query)]
  const [first, ...more] = problems
  if (first) throw unprocessable(first, ...more)
  const sort = sortOf(query)
  return {
    states: statesOf(query),
    workflow_namespace: query.namespace,
    workflow_name: query.workflow_name,
    workflow_version: query.version ?? 0,
    schedule_id: query.schedule_id ?? '',
    worker_name: query.worker_name,
    created_by: query.created_by,
    parent_id: query.parent_id ?? '',
    created_after: query.created_after,
    created_before: query.created_before,
    finished_after: query.finished_after,
    finished_before: query.finished_before,
    min_duration: query.min_duration,
    max_duration: query.max_duration,
    id_prefix: query.id.replaceAll('-', '').toLowerCase(),
    error: query.error,
    payload: query.payload === '' ? undefined : payloadOf(query.payload),
    tags: query.tags,
    by_finish: sort.endsWith('finished'),
    ascending: !sort.startsWith('-'),
    cursor: query.cursor,
    limit: query.limit,
    offset: query.offset,
  }
}

const sortOf = ({ sort, finished_after, finished_before }: Query): (typeof SORTS)[number] =>
  sort ?? (finished_after || finished_before ? '-finished' : '-created')

/** Each filter without an index, and the filters of which at least one must accompany it. */
export const COMPANIONS: [filter: keyof Query, companions: (keyof Query)[]][] = [
  ['version', ['workflow_name']],
  ['payload', ['workflow_name', 'schedule_id', 'parent_id', 'tags']],
  ['error', ['workflow_name', 'schedule_id', 'created_after', 'finished_after']],
  ['min_duration', ['workflow_name', 'schedule_id', 'created_after', 'finished_after']],
  ['max_duration', ['workflow_name', 'schedule_id', 'created_after', 'finished_after']],
]

function missingCompanions(query: Query): Problem[] {
  const isGiven = (filter: keyof Query) =>
    filter === 'tags'
      ? Object.keys(query.tags).length > 0
      : query[filter] !== undefined && query[filter] !== ''
  return COMPANIONS.flatMap(([filter, companions]) =>
    !isGiven(filter) || companions.some(isGiven)
      ? []
      : {
          loc: ['query', filter],
          msg: `has no index: filter by ${companions.join(' or ')}, too`,
          type: 'missing_filter',
        },
  )
}

function orderProblems({ cursor, offset }: Query): Problem[] {
  if (cursor === '' || offset === 0) return []
  return [{ loc: ['query', 'offset'], msg: 'must be absent with a cursor', type: 'value_error' }]
}

/** States to search; all for none. */
function statesOf(query: Query): State[] {
  const included = parseStates(query.state)
  const excluded = parseStates(query.exclude_state)
  if (excluded.length === 0) return included
  const states = (included.length > 0 ? included : STATES).filter(
    (state) => !excluded.includes(state),
  )
  // CREATED is never stored: no execution matches.
  return states.length > 0 ? states : ['CREATED']
}

function parseStates(given: string): State[] {
  if (given === '') return []
  return given.split(',').map((text) => {
    const state = text.trim().toUpperCase()
    if (isState(state)) return state
    throw invalid(`Invalid state '${text}'. Valid states: ${STATES.join(', ')}`)
  })
}

const PAYLOAD = /^(input|output)\.([^=]+)=(.*)$/

function payloadOf(given: string): SearchRequest['payload'] {
  const [, side, path = '', value = ''] = PAYLOAD.exec(given) ?? []
  const names = path.split('.')
  if (side === undefined || names.includes(''))
    throw unprocessable({
      loc: ['query', 'payload'],
      msg: 'must be input.<path>=<value> or output.<path>=<value>',
      type: 'value_error',
    })
  return { output: side === 'output', path: names, value }
}

/** The request of a service of an earlier release; undefined if it does not know all filters. */
export function plainRequest(search: Search): Omit<ListRequest, 'visible'> | undefined {
  const { states, workflow_namespace, workflow_name, limit, offset, ...others } = search
  const isUsed = Object.entries(others).some(
    ([name, value]) =>
      value !== undefined &&
      value !== '' &&
      value !== 0 &&
      value !== false &&
      !(name === 'tags' && Object.keys(others.tags).length === 0),
  )
  if (isUsed || states.length > 1) return undefined
  return { state: states[0] ?? '', workflow_namespace, workflow_name, limit, offset }
}
