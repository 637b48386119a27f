import { path, toExecutionId, toNamespace, toWorkflowName } from '@windlass/api-client/path'
import { getMembers, toJsonObject } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import {
  detailedArg,
  detailedQuery,
  executionArg,
  executionNotFound,
  executionResult,
  pageArgs,
  pageOf,
  selectMembers,
  workflowArgs,
  workflowNotFound,
} from './shared.ts'

const PAGE = pageOf('executions')

const { workflow_name, workflow_namespace } = workflowArgs

const stateArg = {
  state: z
    .string()
    .nullable()
    .default(null)
    .describe('Only executions in this state, such as running or failed'),
}

const pageQuery = ({ limit, offset }: { limit: number; offset: number }) => ({
  limit: String(limit),
  offset: String(offset),
})

export const getExecutionStatus = defineTool({
  name: 'get_execution_status',
  title: 'Get execution status',
  description:
    'Show the state, input and output of an execution of a workflow. The output of a FAILED one is its error.',
  args: { workflow_name, ...executionArg, ...detailedArg, workflow_namespace },
  request: (args) => ({
    method: 'GET',
    path: path`/workflows/${toNamespace(args.workflow_namespace)}/${toWorkflowName(args.workflow_name)}/status/${toExecutionId(args.execution_id)}`,
    query: detailedQuery(args.detailed),
  }),
  ...executionResult,
  errors: { 404: executionNotFound },
  doing: 'retrieving execution status',
  effect: 'reads',
})

export const listExecutions = defineTool({
  name: 'list_executions',
  title: 'List executions',
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
  ...selectMembers(PAGE),
  doing: 'listing executions',
  effect: 'reads',
})

export const getExecution = defineTool({
  name: 'get_execution',
  title: 'Get execution',
  description:
    'Show the state, input and output of an execution by its id. The output of a FAILED one is its error.',
  args: { ...executionArg, ...detailedArg },
  request: ({ execution_id, detailed }) => ({
    method: 'GET',
    path: path`/executions/${toExecutionId(execution_id)}`,
    query: detailedQuery(detailed),
  }),
  ...executionResult,
  errors: { 404: executionNotFound },
  doing: 'retrieving execution',
  effect: 'reads',
})

export const listWorkflowExecutions = defineTool({
  name: 'list_workflow_executions',
  title: 'List workflow executions',
  description: 'List the executions of one workflow, newest first.',
  args: { workflow_name, ...stateArg, ...pageArgs, workflow_namespace },
  request: ({ workflow_namespace, workflow_name, state, ...page }) => ({
    method: 'GET',
    path: path`/workflows/${toNamespace(workflow_namespace)}/${toWorkflowName(workflow_name)}/executions`,
    query: { state: state ?? undefined, ...pageQuery(page) },
  }),
  output: { workflow_name: z.string(), ...PAGE },
  result: (answer, { workflow_name }) =>
    toJsonObject({
      success: 'true',
      workflow_name: quote(workflow_name),
      ...getMembers(answer, Object.keys(PAGE)),
    }),
  errors: { 404: workflowNotFound },
  doing: 'listing workflow executions',
  effect: 'reads',
})
