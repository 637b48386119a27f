import { quote } from '@windlass/runtime/json/json'
import { z } from 'zod'
import type { ApiRequest } from '../api.ts'
import { executionId, namespace, path, workflowName } from '../domain/path.ts'
import { objectOf, payloadOf } from '../domain/payload.ts'
import { Refusal } from '../domain/refusal.ts'
import { tool } from '../tool.ts'
import {
  detailedArg,
  detailedQuery,
  execution,
  executionArg,
  noExecution,
  noWorkflow,
  workflowArgs,
} from './shared.ts'

/** The server answers a little before the client gives up, so that an agent always learns the id. */
const WAIT = { wait_for: 'paused', timeout: '290' }
const WAIT_MS = 300_000

const { workflow_name, workflow_namespace } = workflowArgs

const executeArgs = {
  workflow_name,
  input_data: z.string().describe('The input as JSON; text that is no JSON is passed as a string'),
  ...detailedArg,
  workflow_namespace,
}

interface ExecuteArgs {
  workflow_name: string
  workflow_namespace: string
  input_data: string
  detailed: boolean
}

const waiting = (mode: 'sync' | 'async', { detailed }: { detailed: boolean }) =>
  mode === 'sync'
    ? { query: { ...WAIT, ...detailedQuery(detailed) }, timeoutMs: WAIT_MS }
    : { query: detailedQuery(detailed) }

function execute(mode: 'sync' | 'async', args: ExecuteArgs): ApiRequest {
  const { workflow_namespace, workflow_name, input_data } = args
  const run = path`/workflows/${namespace(workflow_namespace)}/${workflowName(workflow_name)}/run`
  const body = payloadOf(input_data)
  return { method: 'POST', path: `${run}/${mode}`, body, ...waiting(mode, args) }
}

export const executeWorkflowAsync = tool({
  name: 'execute_workflow_async',
  description: 'Start a workflow and answer at once with the execution, to be asked about later.',
  args: executeArgs,
  request: (args) => execute('async', args),
  result: execution,
  errors: { 404: noWorkflow },
  doing: 'executing workflow',
  effect: 'changes',
})

export const executeWorkflowSync = tool({
  name: 'execute_workflow_sync',
  description:
    'Start a workflow and wait until it has finished or paused. After 290 seconds the execution is answered in the state it is in; it goes on.',
  args: executeArgs,
  request: (args) => execute('sync', args),
  result: execution,
  errors: { 404: noWorkflow },
  doing: 'executing workflow',
  effect: 'changes',
})

const resumeArgs = {
  workflow_name,
  ...executionArg,
  input_data: z.string().describe('What the paused task gets, as JSON'),
  ...detailedArg,
  workflow_namespace,
}

type ResumeArgs = ExecuteArgs & { execution_id: string }

function resume(mode: 'sync' | 'async', args: ResumeArgs): ApiRequest {
  const { workflow_namespace, workflow_name, execution_id, input_data } = args
  const resumed = path`/workflows/${namespace(workflow_namespace)}/${workflowName(workflow_name)}/resume/${executionId(execution_id)}`
  const body = payloadOf(input_data)
  return { method: 'POST', path: `${resumed}/${mode}`, body, ...waiting(mode, args) }
}

const resumeErrors = {
  400: (_: ResumeArgs, body: string) => `Cannot resume execution: ${body}`,
  404: ({ workflow_namespace, workflow_name, execution_id }: ResumeArgs) =>
    `Workflow '${workflow_namespace}/${workflow_name}' or execution '${execution_id}' not found`,
}

export const resumeWorkflowAsync = tool({
  name: 'resume_workflow_async',
  description: 'Resume a paused execution and answer at once.',
  args: resumeArgs,
  request: (args) => resume('async', args),
  result: execution,
  errors: resumeErrors,
  doing: 'resuming workflow',
  effect: 'changes',
})

export const resumeWorkflowSync = tool({
  name: 'resume_workflow_sync',
  description:
    'Resume a paused execution and wait until it has finished or paused again, at most 290 seconds.',
  args: resumeArgs,
  request: (args) => resume('sync', args),
  result: execution,
  errors: resumeErrors,
  doing: 'resuming workflow',
  effect: 'changes',
})

export const cancelExecution = tool({
  name: 'cancel_execution',
  description: 'Cancel an execution. Mode `sync` waits until it has ended.',
  args: {
    workflow_name,
    ...executionArg,
    mode: z.string().default('async').describe('`sync` or `async`'),
    ...detailedArg,
    workflow_namespace,
  },
  request({ workflow_namespace, workflow_name, execution_id, mode, detailed }) {
    if (mode !== 'sync' && mode !== 'async') throw new Refusal("Mode must be 'sync' or 'async'")
    return {
      method: 'GET',
      path: path`/workflows/${namespace(workflow_namespace)}/${workflowName(workflow_name)}/cancel/${executionId(execution_id)}`,
      query: { mode, ...detailedQuery(detailed) },
      timeoutMs: mode === 'sync' ? WAIT_MS : undefined,
    }
  },
  result: (answer, { execution_id, workflow_name, mode }) =>
    objectOf({
      success: 'true',
      execution_id: quote(execution_id),
      workflow_name: quote(workflow_name),
      cancellation_mode: quote(mode),
      status: answer,
    }),
  errors: {
    400: (_, body) => `Cannot cancel execution: ${body}`,
    404: noExecution,
  },
  doing: 'cancelling execution',
  effect: 'changes',
})
