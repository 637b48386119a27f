import { path, toExecutionId, toWorkerName } from '@windlass/api-client/path'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { filterArgs, filtersOf } from './filters.ts'
import { executionArg, executionNotFound, selectMembers } from './shared.ts'

const anyObject = z.looseObject({})
const list = z.array(z.unknown())
const limit = z.int().min(1).max(1_000).optional().describe('At most this many')
const range = {
  from: z.string().optional().describe('From this time (RFC 3339); default: an hour before `to`'),
  to: z.string().optional().describe('Up to this time; default: now'),
  step: z.int().min(1).optional().describe('Seconds of a step (default 60)'),
}

/** Arguments as the parameters of a query, without those that are not given. */
const queryOf = (args: Record<string, string | number | undefined>) =>
  Object.fromEntries(Object.entries(args).map(([name, value]) => [name, value?.toString()]))

export const searchExecutions = defineTool({
  name: 'search_executions',
  title: 'Search executions',
  description:
    'Find executions by all filters, as pages. `total` is exact up to 10,000; `next_cursor` continues, and is null at the end.',
  args: {
    ...filterArgs,
    sort: z.enum(['-created', 'created', '-finished', 'finished']).optional(),
    cursor: z.string().optional().describe('`next_cursor` of the page before'),
    limit,
  },
  request: ({ sort, cursor, limit, ...filters }) => ({
    method: 'GET',
    path: path`/executions`,
    query: { ...filtersOf(filters), ...queryOf({ sort, cursor, limit }) },
  }),
  ...selectMembers({
    ...{ executions: list, total: z.int(), total_exact: z.boolean() },
    ...{ next_cursor: z.string().nullable(), cut: z.boolean() },
  }),
  doing: 'searching executions',
  effect: 'reads',
})

const STATS = selectMembers({
  ...{ from: z.string(), to: z.string(), step: z.int(), buckets: list, cut: z.boolean() },
})

export const getExecutionStats = defineTool({
  name: 'get_execution_stats',
  title: 'Get execution statistics',
  description:
    'Count executions that started, ended and failed, with waits and run times, by steps of time.',
  args: {
    ...range,
    group: z.enum(['', 'workflow', 'version', 'worker', 'error']).optional(),
    namespace: filterArgs.namespace,
    workflow_name: filterArgs.workflow_name,
  },
  request: (args) => ({ method: 'GET', path: path`/executions/stats`, query: queryOf(args) }),
  ...STATS,
  doing: 'counting executions',
  effect: 'reads',
})

export const getQueue = defineTool({
  name: 'get_queue',
  title: 'Get queue',
  description:
    'Show the executions that wait for a worker, by what they need: depth, oldest, rates, and the workers that could run them.',
  args: {},
  request: () => ({ method: 'GET', path: path`/queue` }),
  ...selectMembers({ queues: list, cut: z.boolean() }),
  doing: 'reading queue',
  effect: 'reads',
})

export const explainExecution = defineTool({
  name: 'explain_execution',
  title: 'Explain execution',
  description:
    'Explain why an execution does not run: what it needs against each worker, and the smallest change that lets it start.',
  args: executionArg,
  request: ({ execution_id }) => ({
    method: 'GET',
    path: path`/executions/${toExecutionId(execution_id)}/explain`,
  }),
  ...selectMembers({
    ...{ state: z.string(), reason: z.string(), queue_position: z.int().nullable() },
    ...{ requirement: anyObject, workers: list, suggestion: z.string().nullable() },
  }),
  errors: { 404: executionNotFound },
  doing: 'explaining execution',
  effect: 'reads',
})

export const getExecutionTimeline = defineTool({
  name: 'get_execution_timeline',
  title: 'Get execution timeline',
  description:
    'Show the attempts of workers, and the calls of tasks in columns: times, states, tries, parents. `cut` is true if calls are left out.',
  args: executionArg,
  request: ({ execution_id }) => ({
    method: 'GET',
    path: path`/executions/${toExecutionId(execution_id)}/timeline`,
  }),
  ...selectMembers({
    ...{ base: z.string(), state: z.string(), last_seq: z.int(), cut: z.boolean() },
    ...{ attempts: list, tasks: list, calls: anyObject },
  }),
  errors: { 404: executionNotFound },
  doing: 'reading timeline',
  effect: 'reads',
})

export const getExecutionLog = defineTool({
  name: 'get_execution_log',
  title: 'Get execution log',
  description: 'Read a page of the event log of an execution.',
  args: {
    ...executionArg,
    after: z.int().min(0).optional().describe('Entries after this one'),
    before: z.int().min(1).optional().describe('The last entries before this one'),
    types: z
      .string()
      .optional()
      .describe('Only of these types, separated by commas, such as TASK_FAILED'),
    payloads: z.enum(['omit', 'short', 'full']).optional().describe('Values (default short)'),
    limit,
  },
  request: ({ execution_id, ...query }) => ({
    method: 'GET',
    path: path`/executions/${toExecutionId(execution_id)}/log`,
    query: queryOf(query),
  }),
  ...selectMembers({
    ...{ entries: list, last_seq: z.int(), more_before: z.boolean(), more_after: z.boolean() },
  }),
  errors: { 404: executionNotFound },
  doing: 'reading execution log',
  effect: 'reads',
})

export const getExecutionOutputLines = defineTool({
  name: 'get_execution_output_lines',
  title: 'Get output of code',
  description: 'Read the lines that the code of an execution wrote with print and logging.',
  args: {
    ...executionArg,
    after: z.int().min(0).optional().describe('Lines after this one'),
    level: z.enum(['debug', 'info', 'warning', 'error', 'critical']).optional(),
    task_id: z.string().optional().describe('Only of this call'),
    limit,
  },
  request: ({ execution_id, ...query }) => ({
    method: 'GET',
    path: path`/executions/${toExecutionId(execution_id)}/logs`,
    query: queryOf(query),
  }),
  ...selectMembers({ lines: list, more: z.boolean() }),
  errors: { 404: executionNotFound },
  doing: 'reading output of code',
  effect: 'reads',
})

export const getWorkerHistory = defineTool({
  name: 'get_worker_history',
  title: 'Get worker history',
  description: 'Count the executions of a worker and measure them, by steps of time.',
  args: { worker_name: z.string().describe('Name of the worker'), ...range },
  request: ({ worker_name, ...query }) => ({
    method: 'GET',
    path: path`/workers/${toWorkerName(worker_name)}/history`,
    query: queryOf(query),
  }),
  ...STATS,
  doing: 'reading worker history',
  effect: 'reads',
})
