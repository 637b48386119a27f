import { path, toNamespace, toWorkflowName } from '@windlass/api-client/path'
import { getElements, getMembers, toJsonObject } from '@windlass/api-client/payload'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { messageResult, workflowArgs, workflowNotFound, wrapAs, wrapListAs } from './shared.ts'

export const listWorkflows = defineTool({
  name: 'list_workflows',
  title: 'List workflows',
  description: 'List the latest version of every workflow you may read.',
  args: {},
  request: () => ({ method: 'GET', path: path`/workflows` }),
  ...wrapListAs('workflows'),
  doing: 'listing workflows',
  reportsConnectionError: true,
  effect: 'reads',
})

export const listNamespaces = defineTool({
  name: 'list_namespaces',
  title: 'List namespaces',
  description: 'List the namespaces that have workflows, with the number of workflows in each.',
  args: {},
  request: () => ({ method: 'GET', path: path`/namespaces` }),
  ...wrapListAs('namespaces'),
  doing: 'listing namespaces',
  reportsConnectionError: true,
  effect: 'reads',
})

export const getWorkflowDetails = defineTool({
  name: 'get_workflow_details',
  title: 'Get workflow details',
  description:
    'Show the latest version of a workflow: metadata, with the JSON Schema of its input, and source (base64).',
  args: workflowArgs,
  request: (args) => ({
    method: 'GET',
    path: path`/workflows/${toNamespace(args.workflow_namespace)}/${toWorkflowName(args.workflow_name)}`,
  }),
  ...wrapAs('workflow'),
  errors: { 404: workflowNotFound },
  doing: 'retrieving workflow details',
  effect: 'reads',
})

const SOURCE = `The Python source, as text, such as:
from windlass import ExecutionContext, workflow

@workflow
async def hello(ctx: ExecutionContext[str]):
    return f"Hello, {ctx.input}"
`

export const uploadWorkflow = defineTool({
  name: 'upload_workflow',
  title: 'Upload workflow',
  description:
    'Register the workflows of a Python source file. Each becomes a new version. Schedules that the source declares are registered too.',
  args: { file_content: z.string().describe(SOURCE) },
  request({ file_content }) {
    const body = new FormData()
    body.set('file', new Blob([file_content], { type: 'text/x-python' }), 'workflow.py')
    // A second upload would create another version.
    return { method: 'POST', path: path`/workflows`, body, repeatability: 'once' }
  },
  output: { workflows: z.array(z.string()), result: z.array(z.unknown()) },
  result(answer) {
    const names = getElements(answer).map((row) => getMembers(row, ['name']).name)
    return toJsonObject({ success: 'true', workflows: `[${names.join(',')}]`, result: answer })
  },
  doing: 'uploading workflow',
  effect: 'creates',
})

export const deleteWorkflow = defineTool({
  name: 'delete_workflow',
  title: 'Delete workflow',
  description: 'Delete one version of a workflow, or all versions if none is given.',
  args: {
    workflow_name: workflowArgs.workflow_name,
    version: z.int().nullable().default(null).describe('The version; all versions if null'),
    workflow_namespace: workflowArgs.workflow_namespace,
  },
  request: (args) => ({
    method: 'DELETE',
    path: path`/workflows/${toNamespace(args.workflow_namespace)}/${toWorkflowName(args.workflow_name)}`,
    query: { version: args.version?.toString() },
  }),
  ...messageResult,
  errors: { 404: workflowNotFound },
  doing: 'deleting workflow',
  effect: 'deletes',
})

export const listWorkflowVersions = defineTool({
  name: 'list_workflow_versions',
  title: 'List workflow versions',
  description: 'List the versions of a workflow, newest first.',
  args: workflowArgs,
  request: (args) => ({
    method: 'GET',
    path: path`/workflows/${toNamespace(args.workflow_namespace)}/${toWorkflowName(args.workflow_name)}/versions`,
  }),
  ...wrapListAs('versions'),
  errors: { 404: workflowNotFound },
  doing: 'listing workflow versions',
  effect: 'reads',
})

export const getWorkflowVersion = defineTool({
  name: 'get_workflow_version',
  title: 'Get workflow version',
  description: 'Show one version of a workflow: metadata and source (base64).',
  args: {
    workflow_name: workflowArgs.workflow_name,
    version: z.int().describe('The version'),
    workflow_namespace: workflowArgs.workflow_namespace,
  },
  request: (args) => ({
    method: 'GET',
    path: `${path`/workflows/${toNamespace(args.workflow_namespace)}/${toWorkflowName(args.workflow_name)}/versions`}/${args.version}`,
  }),
  ...wrapAs('workflow'),
  errors: {
    404: ({ workflow_namespace, workflow_name, version }) =>
      `Workflow '${workflow_namespace}/${workflow_name}' version ${version} not found`,
  },
  doing: 'retrieving workflow version',
  effect: 'reads',
})
