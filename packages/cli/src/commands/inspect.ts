import { path, toExecutionId, toWorkerName } from '@windlass/api-client/path'
import { readCommand } from './read-command.ts'

const range = {
  from: { value: 'TIME', about: 'from this time (RFC 3339; default: an hour before its end)' },
  to: { value: 'TIME', about: 'up to this time (default now)' },
  step: { value: 'SECONDS', about: 'length of a step (default 60)' },
}
const BUCKETS = ['at', 'group', 'started', 'ended', 'failed']

const idOf = ([id = '']: string[]) => toExecutionId(id)

export const executionStats = readCommand({
  words: 'execution stats',
  args: [],
  about: 'Count executions by steps of time; --json adds waits and run times',
  query: {
    ...range,
    group: { value: 'NAME', about: 'workflow, version, worker or error' },
    namespace: { value: 'NAME', about: 'only of this namespace' },
    workflow: {
      ...{ parameter: 'workflow_name', value: 'NAME' },
      about: 'only of workflows of this name',
    },
  },
  pathOf: () => path`/executions/stats`,
  table: { member: 'buckets', columns: BUCKETS },
})

export const executionExplain = readCommand({
  words: 'execution explain',
  args: ['execution_id'],
  about: 'Explain why an execution does not run, with the smallest change that lets it start',
  pathOf: (args) => path`/executions/${idOf(args)}/explain`,
})

export const executionTimeline = readCommand({
  words: 'execution timeline',
  args: ['execution_id'],
  about: 'Show the attempts of workers and the calls of tasks, in columns',
  pathOf: (args) => path`/executions/${idOf(args)}/timeline`,
})

export const executionLog = readCommand({
  words: 'execution log',
  args: ['execution_id'],
  about: 'List a page of the event log',
  query: {
    after: { value: 'SEQ', about: 'entries after this one (default 0)' },
    before: { value: 'SEQ', about: 'the last entries before this one' },
    limit: { value: 'N', about: 'at most this many (default 100)' },
    types: { value: 'TYPES', about: 'only of these types, separated by commas' },
    payloads: { value: 'HOW', about: 'omit, short (default) or full; printed with --json' },
  },
  pathOf: (args) => path`/executions/${idOf(args)}/log`,
  table: { member: 'entries', columns: ['seq', 'time', 'type', 'name', 'source_id'] },
})

export const executionLogs = readCommand({
  words: 'execution logs',
  args: ['execution_id'],
  about: 'List what the code of an execution wrote with print and logging',
  query: {
    after: { value: 'SEQ', about: 'lines after this one (default 0)' },
    limit: { value: 'N', about: 'at most this many (default 100)' },
    level: { value: 'LEVEL', about: 'this level and those above it (default debug)' },
    task: { parameter: 'task_id', value: 'CALL', about: 'only of this call' },
  },
  pathOf: (args) => path`/executions/${idOf(args)}/logs`,
  table: { member: 'lines', columns: ['seq', 'time', 'level', 'message'] },
})

export const queueShow = readCommand({
  words: 'queue show',
  args: [],
  about: 'Show the ready queue by requirement; --json adds rates and the workers of each',
  pathOf: () => path`/queue`,
  table: { member: 'queues', columns: ['depth', 'oldest', 'requirement'] },
})

export const workerList = readCommand({
  words: 'worker list',
  args: [],
  about: 'List the known workers',
  pathOf: () => path`/workers`,
  table: { columns: ['name', 'status', 'max_concurrent_executions', 'last_seen_at'] },
})

export const workerShow = readCommand({
  words: 'worker show',
  args: ['name'],
  about: 'Show a worker, connected or not',
  pathOf: ([name = '']) => path`/workers/${toWorkerName(name)}`,
})

export const workerHistory = readCommand({
  words: 'worker history',
  args: ['name'],
  about: 'Count the executions of a worker by steps of time',
  query: range,
  pathOf: ([name = '']) => path`/workers/${toWorkerName(name)}/history`,
  table: { member: 'buckets', columns: BUCKETS.filter((name) => name !== 'group') },
})

export const auditHead = readCommand({
  words: 'audit head',
  args: [],
  about: 'Show number and hash of the newest audit entry, to note them elsewhere',
  pathOf: () => path`/admin/audit/head`,
})

export const auditCheckpoints = readCommand({
  words: 'audit checkpoints',
  args: [],
  about: 'List signed checkpoints of the audit log; --json adds signatures and keys, to save them',
  query: {
    limit: { value: 'N', about: 'at most this many (default 50, up to 1000)' },
    offset: { value: 'N', about: 'skip this many' },
  },
  pathOf: () => path`/admin/audit/checkpoints`,
  table: { member: 'checkpoints', columns: ['seq', 'at', 'entries', 'reason', 'key_id'] },
})

export const auditKeys = readCommand({
  words: 'audit keys',
  args: [],
  about: 'Show the public keys that verify checkpoints, as a JWK set, to note them elsewhere',
  pathOf: () => path`/admin/audit/keys`,
})
