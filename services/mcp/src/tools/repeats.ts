import { randomUUID } from 'node:crypto'
import { path, toExecutionId } from '@windlass/api-client/path'
import { toJsonObject, toPayload } from '@windlass/api-client/payload'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import {
  executionArg,
  executionNotFound,
  executionResult,
  priorityArg,
  selectMembers,
} from './shared.ts'

const againArgs = {
  input_data: z
    .string()
    .optional()
    .describe('Another input, as JSON; by default that of the execution'),
  version: z
    .int()
    .min(1)
    .optional()
    .describe('Another version of the workflow; by default that of the execution'),
  ...priorityArg,
}

interface Again {
  input_data?: string | undefined
  version?: number | undefined
}

const againOf = ({ input_data, version }: Again): Record<string, string> => ({
  ...(input_data !== undefined && { input: toPayload(input_data) }),
  ...(version !== undefined && { version: String(version) }),
})

const plain = executionResult.result

export const rerunExecution = defineTool({
  name: 'rerun_execution',
  title: 'Run execution again',
  description:
    'Start an execution like another one, with its input or another, and return it at once.',
  args: { ...executionArg, ...againArgs },
  request: ({ execution_id, priority, ...again }) => ({
    method: 'POST',
    path: path`/executions/${toExecutionId(execution_id)}/rerun`,
    query: { priority: priority?.toString() },
    body: toJsonObject(againOf(again)),
    idempotencyKey: randomUUID(),
  }),
  ...executionResult,
  result: (answer) => plain(answer, { detailed: false }),
  errors: { 404: executionNotFound },
  doing: 'running execution again',
  effect: 'runs',
})

export const forkExecution = defineTool({
  name: 'fork_execution',
  title: 'Fork execution',
  description:
    'Start an execution that begins with the log of another one: calls whose outcome is in its log up to after_seq do not run again. With dry_run it only tells which calls would run again.',
  args: {
    ...executionArg,
    after_seq: z
      .int()
      .min(0)
      .describe('Last entry of the log to begin with: a `seq` of get_execution_log'),
    dry_run: z.boolean().default(false).describe('Start nothing'),
    ...againArgs,
  },
  request: ({ execution_id, after_seq, dry_run, priority, ...again }) => ({
    method: 'POST',
    path: path`/executions/${toExecutionId(execution_id)}/fork`,
    query: { priority: priority?.toString() },
    body: toJsonObject({
      ...{ after_seq: String(after_seq), dry_run: String(dry_run) },
      ...againOf(again),
    }),
    idempotencyKey: randomUUID(),
  }),
  ...selectMembers({ plan: z.looseObject({}), execution: z.looseObject({}).nullable() }),
  errors: { 404: executionNotFound },
  doing: 'forking execution',
  effect: 'runs',
})

const DIFF = Object.fromEntries(
  ['a', 'b', 'input', 'output', 'calls'].map((name) => [name, z.looseObject({})]),
)

export const diffExecutions = defineTool({
  name: 'diff_executions',
  title: 'Compare executions',
  description:
    'Compare two executions: inputs, versions, durations, and the first call that differs.',
  args: {
    ...executionArg,
    other_execution_id: z.string().describe('Id of the execution to compare with'),
  },
  request: ({ execution_id, other_execution_id }) => ({
    method: 'GET',
    path: path`/executions/${toExecutionId(execution_id)}/diff/${toExecutionId(other_execution_id)}`,
  }),
  ...selectMembers({ same_workflow: z.boolean(), same_version: z.boolean(), ...DIFF }),
  errors: { 404: executionNotFound },
  doing: 'comparing executions',
  effect: 'reads',
})
