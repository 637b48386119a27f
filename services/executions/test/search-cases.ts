import type { SearchRequest } from '@windlass/proto/windlass/executions/v1/history'
import { FIRST_MS, MINUTE_MS, PARENT, type Sample, SCHEDULE } from './search-samples.ts'

/** Visibility of a caller of namespace `one`. */
export const ONE = { all: false, workflows: [{ namespace: 'one', name: '*' }], ids: [] }

const AFTER = new Date(FIRST_MS + 100 * MINUTE_MS)
const BEFORE = new Date(FIRST_MS + 200 * MINUTE_MS)

/** Filters, and the samples that match them. */
export const SEARCH_CASES: [
  what: string,
  filter: Partial<SearchRequest>,
  is: (one: Sample) => boolean,
][] = [
  ['no filter', {}, () => true],
  ['one state', { states: ['FAILED'] }, ({ state }) => state === 'FAILED'],
  [
    'terminal and live states',
    { states: ['FAILED', 'RUNNING', 'COMPLETED'] },
    ({ state }) => ['FAILED', 'RUNNING', 'COMPLETED'].includes(state),
  ],
  [
    'states without a worker',
    { states: ['SCHEDULED', 'PAUSED'] },
    ({ state }) => ['SCHEDULED', 'PAUSED'].includes(state),
  ],
  ['a namespace', { workflow_namespace: 'two' }, ({ namespace }) => namespace === 'two'],
  ['a name in every namespace', { workflow_name: 'a' }, ({ name }) => name === 'a'],
  [
    'a version of a workflow',
    { workflow_namespace: 'one', workflow_name: 'a', workflow_version: 3 },
    (one) => one.namespace === 'one' && one.name === 'a' && one.version === 3,
  ],
  ['a schedule', { schedule_id: SCHEDULE }, ({ schedule }) => schedule === SCHEDULE],
  ['a parent', { parent_id: PARENT }, ({ parent }) => parent === PARENT],
  ['a worker', { worker_name: 'w1' }, (one) => one.worker === 'w1'],
  ['a creator', { created_by: 'ann' }, ({ creator }) => creator === 'ann'],
  [
    'a creator and a worker',
    { created_by: 'ann', worker_name: 'w1' },
    (one) => one.creator === 'ann' && one.worker === 'w1',
  ],
  [
    'a range of creation',
    { created_after: AFTER, created_before: BEFORE },
    ({ created }) => created >= +AFTER && created < +BEFORE,
  ],
  [
    'a range of the end, by creation',
    { finished_after: AFTER, finished_before: BEFORE },
    ({ finished }) => finished !== undefined && finished >= +AFTER && finished < +BEFORE,
  ],
  [
    'a duration',
    { min_duration: 600, max_duration: 1_800 },
    ({ started = 0, finished }) =>
      finished !== undefined && finished - started >= 6e5 && finished - started <= 18e5,
  ],
  [
    'an error, as text and not as a pattern',
    { error: '100% LOST_', created_after: AFTER },
    (one) => one.error !== undefined && one.created >= +AFTER,
  ],
  [
    'a value in the input',
    { workflow_name: 'b', payload: { output: false, path: ['order', 'id'], value: 'A-7' } },
    (one) => one.name === 'b' && one.input.includes('"A-7"'),
  ],
  [
    'a number in the input',
    { workflow_name: 'b', payload: { output: false, path: ['order', 'n'], value: '17' } },
    (one) => one.input.includes('"n":17}'),
  ],
  [
    'a value in the output',
    { workflow_name: 'b', payload: { output: true, path: ['order'], value: '1' } },
    () => false,
  ],
  ['one tag', { tags: { env: 'prod' } }, ({ tags }) => tags !== undefined],
  ['two tags', { tags: { env: 'prod', team: 'y' } }, ({ tags }) => tags?.team === 'y'],
]
