// Requests of the benchmark: every filter of `GET /executions` alone, or with each filter that must accompany it,
// usual combinations, orders and pages, and the requests that the console sends for counts and charts.
import { COMPANIONS } from '../../services/gateway/src/routes/search-query.ts'
import { DAYS, PARENT, SCHEDULE } from './stored.mjs'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const daysAgo = (days) => new Date(Date.now() - days * DAY_MS).toISOString()
const hoursAgo = (hours) => new Date(Date.now() - hours * HOUR_MS).toISOString()
const oneOf = (prefix, count) => `${prefix}${Math.floor(Math.random() * count)}`

/** A value of each filter, new for each request where there are many. */
const VALUES = {
  workflow_name: () => 'hello_world',
  namespace: () => 'default',
  state: () => 'failed',
  exclude_state: () => 'completed',
  version: () => '3',
  schedule_id: () => SCHEDULE,
  worker_name: () => oneOf('worker-', 40),
  created_by: () => oneOf('user-', 30),
  parent_id: () => PARENT,
  created_after: () => daysAgo(20),
  created_before: () => daysAgo(10),
  finished_after: () => daysAgo(20),
  finished_before: () => daysAgo(10),
  min_duration: () => '900',
  max_duration: () => '0.05',
  id: () => hexTime(Math.random() * DAYS),
  error: () => 'bank',
  payload: () => `input.order.id=A-${Math.floor(Math.random() * 1e6)}`,
  tags: () => oneOf('customer=c-', 10_000),
}

/** The first 8 hex digits of ids of one time: about a minute. */
function hexTime(days) {
  const ms = Math.floor(Date.now() - days * DAY_MS)
  return ms.toString(16).padStart(12, '0').slice(0, 8)
}

const EXECUTIONS = '/executions'

/** A request with these filters, some of them with another value than usual. */
const search = (name, filters, others = {}) => ({
  name,
  filters: [...filters, ...Object.keys(others)],
  path: EXECUTIONS,
  query: () => ({
    ...Object.fromEntries(filters.map((filter) => [filter, VALUES[filter]()])),
    ...others,
  }),
})

const accompanied = new Set(COMPANIONS.map(([name]) => name))
const ALONE = Object.keys(VALUES).filter((name) => !accompanied.has(name))

/** Each filter with as few others as the API accepts. */
const SINGLE = [
  search('no filter', []),
  ...ALONE.map((name) => search(name, [name])),
  ...COMPANIONS.flatMap(([name, companions]) =>
    companions.map((companion) => search(`${name}, ${companion}`, [name, companion])),
  ),
]

/** The same filters with values that many, few or no executions have. */
const FREQUENCIES = [
  search('state: most', [], { state: 'completed' }),
  search('state: running', [], { state: 'running' }),
  search('state: waiting', [], { state: 'scheduled,paused' }),
  search('state: ended and not', [], { state: 'failed,running,cancelled' }),
  search('exclude_state: few left', [], { exclude_state: 'completed,failed,cancelled' }),
  search('workflow_name: small', [], { workflow_name: 'workflow_7' }),
  search('workflow_name: none', [], { workflow_name: 'absent' }),
  search('version: rare', ['workflow_name'], { version: '9' }),
  search('worker_name: rare', [], { worker_name: 'worker-rare' }),
  search('worker_name: none', [], { worker_name: 'absent' }),
  search('created_by: rare', [], { created_by: 'user-rare' }),
  search('created_by: none', [], { created_by: 'absent' }),
  search('parent_id: none', [], { parent_id: '7'.repeat(32) }),
  search('tags: frequent', [], { tags: 'env=prod' }),
  search('tags: two', [], { tags: 'env=test,customer=c-17' }),
  search('tags: none', [], { tags: 'env=absent' }),
  search('tags: frequent, early', ['created_before'], { tags: 'env=prod' }),
  search('error: frequent', ['workflow_name'], { error: 'order' }),
  search('error: none', ['workflow_name'], { error: 'absent' }),
  search('payload: none', ['workflow_name'], { payload: 'input.order.id=absent' }),
  search('payload: output', ['workflow_name'], { payload: 'output.total=17' }),
  search('payload: frequent', ['workflow_name'], { payload: 'input.urgent=true' }),
  search('payload: no such path', ['workflow_name'], { payload: 'input.a.b.c=1' }),
  search('payload, tags: frequent', [], { payload: 'input.order.id=absent', tags: 'env=prod' }),
]

/** Usual searches. */
const COMBINATIONS = [
  search('failed of a workflow', ['workflow_name', 'state']),
  search('failed of a namespace, one day', ['namespace', 'state'], { created_after: daysAgo(1) }),
  search('failed in the last hour', ['state'], { finished_after: hoursAgo(1) }),
  search('slow of a workflow, one day', ['workflow_name', 'min_duration'], {
    created_after: daysAgo(1),
  }),
  search('error of a workflow, one day', ['workflow_name', 'error'], {
    finished_after: daysAgo(1),
  }),
  search('an order that failed, two days', ['workflow_name', 'state', 'payload'], {
    created_after: daysAgo(2),
  }),
  search('worker and creator', ['worker_name', 'created_by']),
  search('worker and state', ['worker_name', 'state']),
  search('creator and workflow', ['created_by', 'workflow_name']),
  search('schedule and state', ['schedule_id', 'state']),
  search('creation and end', ['created_after', 'created_before', 'finished_before']),
  search('all filters', Object.keys(VALUES)),
]

/** A page that begins in the middle of the time: at the cursor of a request for `startsAt`, which has the same order. */
const deep = (name, filters, others = {}) => ({
  ...search(name, filters, others),
  filters: [...filters, ...Object.keys(others), 'cursor'],
  startsAt: others.sort
    ? { sort: others.sort, finished_before: daysAgo(15) }
    : { created_before: daysAgo(15) },
})

const PAGES = [
  ...['-created', 'created', '-finished', 'finished'].flatMap((sort) => [
    search(`sort ${sort}`, [], { sort }),
    search(`sort ${sort}, state`, ['state'], { sort }),
    search(`sort ${sort}, workflow`, ['workflow_name'], { sort }),
  ]),
  search('finished range by creation', ['finished_after', 'finished_before'], { sort: '-created' }),
  deep('cursor in the middle', []),
  deep('cursor in the middle, state', ['state']),
  deep('cursor in the middle, workflow', ['workflow_name']),
  deep('cursor in the middle, worker', ['worker_name']),
  deep('cursor in the middle, tags', [], { tags: 'env=prod' }),
  deep('cursor in the middle, parent', ['parent_id']),
  deep('cursor in the middle, sort -finished', [], { sort: '-finished' }),
  search('limit 1000', [], { limit: '1000' }),
  search('limit 1000, state', ['state'], { limit: '1000' }),
  search('limit 500, offset 9500 (export)', ['state'], { limit: '500', offset: '9500' }),
  search('offset 100000', [], { offset: '100000' }),
]

/** A count of the console: the number of matches with a page of one row. */
const count = (name, filters, others = {}) =>
  search(`count: ${name}`, filters, { ...others, limit: '1' })

const COUNTS = [
  count('state', ['state']),
  count('failed in the last hour', [], { state: 'FAILED', finished_after: hoursAgo(1) }),
  count('state of a workflow', ['state', 'workflow_name']),
  count('state of a creator', ['state', 'created_by']),
  count('state of one week', ['state'], { created_after: daysAgo(7) }),
  count('state with a tag', ['state'], { tags: 'env=prod' }),
  count('worker of a workflow', ['worker_name', 'workflow_name']),
  count('version of a workflow', ['version', 'workflow_name']),
  count('payload of a workflow', ['payload', 'workflow_name']),
]

/** Statistics of the console: chart over time, groups, and the names that its counts offer. */
const stats = (name, seconds, step, others = {}) => ({
  name: `stats: ${name}`,
  filters: ['from', 'to', 'step', ...Object.keys(others)],
  path: '/executions/stats',
  query: () => ({
    from: new Date(Date.now() - seconds * 1_000).toISOString(),
    to: new Date().toISOString(),
    step: String(step),
    ...others,
  }),
})

const HOUR_S = 3_600
const DAY_S = 86_400
const ONE = { namespace: 'default', workflow_name: 'hello_world' }

export const STATISTICS = [
  stats('one hour', HOUR_S, 60),
  stats('24 hours', DAY_S, 1_800),
  stats('24 hours by error', DAY_S, 1_800, { group: 'error' }),
  stats('7 days', 7 * DAY_S, 4 * HOUR_S),
  stats('7 days of a workflow', 7 * DAY_S, 4 * HOUR_S, ONE),
  stats('30 days by workflow', 30 * DAY_S, 30 * DAY_S, { group: 'workflow' }),
  stats('30 days by worker', 30 * DAY_S, 30 * DAY_S, { group: 'worker' }),
  stats('30 days of a workflow by version', 30 * DAY_S, 30 * DAY_S, { ...ONE, group: 'version' }),
]

export const SEARCHES = [...SINGLE, ...FREQUENCIES, ...COMBINATIONS, ...PAGES, ...COUNTS]
/** Measured for callers with fewer permissions, too. */
export const RESTRICTED = [...SINGLE, ...FREQUENCIES]
