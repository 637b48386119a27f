import { randomUUID } from 'node:crypto'
import { ArgumentError } from '@windlass/api-client/errors'
import type { ApiRequest } from '@windlass/api-client/http-client'
import { path, toExecutionId, toNamespace, toWorkflowName } from '@windlass/api-client/path'
import { toJsonObject, toPayload } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import {
  detailedArg,
  detailedQuery,
  executionArg,
  executionNotFound,
  executionResult,
  priorityArg,
  workflowArgs,
  workflowNotFound,
} from './shared.ts'

/** The server answers 10 s before the client's limit, so an agent always gets the execution id. */
const WAIT = { wait_for: 'paused', timeout: '290' }
const WAIT_MS = 300_000

const { workflow_name, workflow_namespace } = workflowArgs

const executeArgs = {
  workflow_name,
  input_data: z
    .string()
    .describe('The input as JSON; empty for none. Text that is not JSON is passed as a string'),
  ...detailedArg,
  workflow_namespace,
  ...priorityArg,
  tags: z
    .string()
    .optional()
    .describe('Labels by which the execution is found: key=value,key=value; up to 16'),
  idempotency_key: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must have 1 to 255 characters of ASCII, without blanks')
    .optional()
    .describe(
      'A name for this start, such as order-7: for 24 hours, another call with the same key and input returns the same execution and starts nothing',
    ),
}

interface ExecuteArgs {
  workflow_name: string
  workflow_namespace: string
  input_data: string
  detailed: boolean
  priority?: number | undefined
  tags?: string | undefined
  idempotency_key?: string | undefined
}

const waitOptions = (mode: 'sync' | 'async', { detailed }: { detailed: boolean }) =>
  mode === 'sync'
    ? { query: { ...WAIT, ...detailedQuery(detailed) }, timeoutMs: WAIT_MS }
    : { query: detailedQuery(detailed) }

function toRunRequest(mode: 'sync' | 'async', args: ExecuteArgs): ApiRequest {
  const { workflow_namespace, workflow_name, input_data, idempotency_key } = args
  const run = path`/workflows/${toNamespace(workflow_namespace)}/${toWorkflowName(workflow_name)}/run`
  const body = toPayload(input_data)
  const { query, ...waiting } = waitOptions(mode, args)
  return {
    ...{ method: 'POST', path: `${run}/${mode}`, body, ...waiting },
    query: { ...query, priority: args.priority?.toString(), tags: args.tags },
    idempotencyKey: idempotency_key ?? randomUUID(),
  }
}

export const executeWorkflowAsync = defineTool({
  name: 'execute_workflow_async',
  title: 'Execute workflow without waiting',
  description:
    'Start a workflow and return the execution at once; get_execution shows its result later.',
  args: executeArgs,
  request: (args) => toRunRequest('async', args),
  ...executionResult,
  errors: { 404: workflowNotFound },
  doing: 'executing workflow',
  effect: 'runs',
})

export const executeWorkflowSync = defineTool({
  name: 'execute_workflow_sync',
  title: 'Execute workflow and wait',
  description:
    'Start a workflow and wait until it has finished or paused. After 290 seconds the execution is returned in its current state and continues; get_execution shows its result later.',
  args: executeArgs,
  request: (args) => toRunRequest('sync', args),
  ...executionResult,
  errors: { 404: workflowNotFound },
  doing: 'executing workflow',
  waits: true,
  effect: 'runs',
})

const resumeArgs = {
  workflow_name,
  ...executionArg,
  input_data: z.string().describe('The answer for the paused task, as JSON; empty for null'),
  ...detailedArg,
  workflow_namespace,
}

type ResumeArgs = Omit<ExecuteArgs, 'priority' | 'tags' | 'idempotency_key'> & {
  execution_id: string
}

function toResumeRequest(mode: 'sync' | 'async', args: ResumeArgs): ApiRequest {
  const { workflow_namespace, workflow_name, execution_id, input_data } = args
  const resumed = path`/workflows/${toNamespace(workflow_namespace)}/${toWorkflowName(workflow_name)}/resume/${toExecutionId(execution_id)}`
  const body = toPayload(input_data)
  // A resume that was carried out must not be carried out again at the next pause.
  const repeatability = 'once'
  return {
    ...{ method: 'POST', path: `${resumed}/${mode}`, body, repeatability },
    ...waitOptions(mode, args),
  }
}

const APPROVAL =
  'One that waits for an approval stays paused: decide it with approve_call or reject_call.'

const resumeErrors = {
  400: (_: ResumeArgs, body: string) => `Cannot resume execution: ${body}`,
  404: ({ workflow_namespace, workflow_name, execution_id }: ResumeArgs) =>
    `Workflow '${workflow_namespace}/${workflow_name}' or execution '${execution_id}' not found`,
}

export const resumeWorkflowAsync = defineTool({
  name: 'resume_workflow_async',
  title: 'Resume workflow without waiting',
  description: `Resume a paused execution and return it at once. ${APPROVAL}`,
  args: resumeArgs,
  request: (args) => toResumeRequest('async', args),
  ...executionResult,
  errors: resumeErrors,
  doing: 'resuming workflow',
  effect: 'runs',
})

export const resumeWorkflowSync = defineTool({
  name: 'resume_workflow_sync',
  title: 'Resume workflow and wait',
  description: `Resume a paused execution and wait until it has finished or paused again, at most 290 seconds. ${APPROVAL}`,
  args: resumeArgs,
  request: (args) => toResumeRequest('sync', args),
  ...executionResult,
  errors: resumeErrors,
  doing: 'resuming workflow',
  waits: true,
  effect: 'runs',
})

export const cancelExecution = defineTool({
  name: 'cancel_execution',
  title: 'Cancel execution',
  description: 'Cancel an execution. Mode `sync` waits until it is terminal.',
  args: {
    workflow_name,
    ...executionArg,
    mode: z.string().default('async').describe('`sync` or `async`'),
    ...detailedArg,
    workflow_namespace,
  },
  request({ workflow_namespace, workflow_name, execution_id, mode, detailed }) {
    if (mode !== 'sync' && mode !== 'async')
      throw new ArgumentError("Mode must be 'sync' or 'async'")
    return {
      method: 'GET',
      path: path`/workflows/${toNamespace(workflow_namespace)}/${toWorkflowName(workflow_name)}/cancel/${toExecutionId(execution_id)}`,
      query: { mode, ...detailedQuery(detailed) },
      timeoutMs: mode === 'sync' ? WAIT_MS : undefined,
    }
  },
  output: {
    execution_id: z.string(),
    workflow_name: z.string(),
    cancellation_mode: z.enum(['sync', 'async']),
    status: z.looseObject({}),
  },
  result: (answer, { execution_id, workflow_name, mode }) =>
    toJsonObject({
      success: 'true',
      execution_id: quote(execution_id),
      workflow_name: quote(workflow_name),
      cancellation_mode: quote(mode),
      status: answer,
    }),
  errors: {
    400: (_, body) => `Cannot cancel execution: ${body}`,
    404: executionNotFound,
  },
  doing: 'cancelling execution',
  waits: true,
  effect: 'deletes',
})
