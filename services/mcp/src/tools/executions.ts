import { quote } from '@windlass/runtime/json/json'
import { z } from 'zod'
import { executionId, namespace, path, workflowName } from '../domain/path.ts'
import { objectOf, pick } from '../domain/payload.ts'
import { tool } from '../tool.ts'
import {
  detailedArg,
  detailedQuery,
  execution,
  executionArg,
  members,
  noExecution,
  noWorkflow,
  pageArgs,
  workflowArgs,
} from './shared.ts'

const PAGE = ['executions', 'total', 'limit', 'offset']

const { workflow_name, workflow_namespace } = workflowArgs

const stateArg = {
  state: z.string().nullable().default(null).describe('Only this state, such as running or failed'),
}

const pageQuery = ({ limit, offset }: { limit: number; offset: number }) => ({
  limit: String(limit),
  offset: String(offset),
})

export const getExecutionStatus = tool({
  name: 'get_execution_status',
  description: 'Show the state and the output of an execution of a workflow.',
  args: { workflow_name, ...executionArg, ...detailedArg, workflow_namespace },
  request: (args) => ({
    method: 'GET',
    path: path`/workflows/${namespace(args.workflow_namespace)}/${workflowName(args.workflow_name)}/status/${executionId(args.execution_id)}`,
    query: detailedQuery(args.detailed),
  }),
  result: execution,
  errors: { 404: noExecution },
  doing: 'retrieving execution status',
  effect: 'reads',
})

export const listExecutions = tool({
  name: 'list_executions',
  description: 'List executions of all workflows, newest first.',
  args: {
    workflow_name: z.string().nullable().default(null).describe('Only of workflows of this name'),
    ...stateArg,
    ...pageArgs,
  },
  request: ({ workflow_name, state, ...page }) => ({
    method: 'GET',
    path: path`/executions`,
    query: {
      workflow_name: workflow_name ?? undefined,
      state: state ?? undefined,
      ...pageQuery(page),
    },
  }),
  result: members(...PAGE),
  doing: 'listing executions',
  effect: 'reads',
})

export const getExecution = tool({
  name: 'get_execution',
  description: 'Show the state and the output of an execution by its id alone.',
  args: { ...executionArg, ...detailedArg },
  request: ({ execution_id, detailed }) => ({
    method: 'GET',
    path: path`/executions/${executionId(execution_id)}`,
    query: detailedQuery(detailed),
  }),
  result: execution,
  errors: { 404: noExecution },
  doing: 'retrieving execution',
  effect: 'reads',
})

export const listWorkflowExecutions = tool({
  name: 'list_workflow_executions',
  description: 'List the executions of one workflow, newest first.',
  args: { workflow_name, ...stateArg, ...pageArgs, workflow_namespace },
  request: ({ workflow_namespace, workflow_name, state, ...page }) => ({
    method: 'GET',
    path: path`/workflows/${namespace(workflow_namespace)}/${workflowName(workflow_name)}/executions`,
    query: { state: state ?? undefined, ...pageQuery(page) },
  }),
  result: (answer, { workflow_name }) =>
    objectOf({
      success: 'true',
      workflow_name: quote(workflow_name),
      ...pick(answer, PAGE),
    }),
  errors: { 404: noWorkflow },
  doing: 'listing workflow executions',
  effect: 'reads',
})
