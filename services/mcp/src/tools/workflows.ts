import { z } from 'zod'
import { namespace, path, workflowName } from '../domain/path.ts'
import { elements, objectOf, pick } from '../domain/payload.ts'
import { tool } from '../tool.ts'
import { counted, members, noWorkflow, workflowArgs, wrapped } from './shared.ts'

export const listWorkflows = tool({
  name: 'list_workflows',
  description: 'List the latest version of every workflow you may read.',
  args: {},
  request: () => ({ method: 'GET', path: path`/workflows` }),
  result: counted('workflows'),
  doing: 'listing workflows',
  tellsConnection: true,
  effect: 'reads',
})

export const listNamespaces = tool({
  name: 'list_namespaces',
  description: 'List the namespaces that hold workflows, and how many each holds.',
  args: {},
  request: () => ({ method: 'GET', path: path`/namespaces` }),
  result: counted('namespaces'),
  doing: 'listing namespaces',
  tellsConnection: true,
  effect: 'reads',
})

export const getWorkflowDetails = tool({
  name: 'get_workflow_details',
  description: 'Show the latest version of a workflow: metadata and source (base64).',
  args: workflowArgs,
  request: (args) => ({
    method: 'GET',
    path: path`/workflows/${namespace(args.workflow_namespace)}/${workflowName(args.workflow_name)}`,
  }),
  result: wrapped('workflow'),
  errors: { 404: noWorkflow },
  doing: 'retrieving workflow details',
  effect: 'reads',
})

export const uploadWorkflow = tool({
  name: 'upload_workflow',
  description:
    'Register the workflows of a Python source file. Each becomes a new version. Schedules that the source declares are registered too.',
  args: { file_content: z.string().describe('The Python source, as text') },
  request({ file_content }) {
    const body = new FormData()
    body.set('file', new Blob([file_content], { type: 'text/x-python' }), 'workflow.py')
    return { method: 'POST', path: path`/workflows`, body }
  },
  result(answer) {
    const names = elements(answer).map((row) => pick(row, ['name']).name)
    return objectOf({ success: 'true', workflows: `[${names.join(',')}]`, result: answer })
  },
  doing: 'uploading workflow',
  effect: 'changes',
})

export const deleteWorkflow = tool({
  name: 'delete_workflow',
  description: 'Delete one version of a workflow, or all versions when none is given.',
  args: {
    workflow_name: workflowArgs.workflow_name,
    version: z.int().nullable().default(null).describe('The version; all when null'),
    workflow_namespace: workflowArgs.workflow_namespace,
  },
  request: (args) => ({
    method: 'DELETE',
    path: path`/workflows/${namespace(args.workflow_namespace)}/${workflowName(args.workflow_name)}`,
    query: { version: args.version?.toString() },
  }),
  result: members('message'),
  errors: { 404: noWorkflow },
  doing: 'deleting workflow',
  effect: 'deletes',
})

export const listWorkflowVersions = tool({
  name: 'list_workflow_versions',
  description: 'List the versions of a workflow, newest first.',
  args: workflowArgs,
  request: (args) => ({
    method: 'GET',
    path: path`/workflows/${namespace(args.workflow_namespace)}/${workflowName(args.workflow_name)}/versions`,
  }),
  result: counted('versions'),
  errors: { 404: noWorkflow },
  doing: 'listing workflow versions',
  effect: 'reads',
})

export const getWorkflowVersion = tool({
  name: 'get_workflow_version',
  description: 'Show one version of a workflow: metadata and source (base64).',
  args: {
    workflow_name: workflowArgs.workflow_name,
    version: z.int().describe('The version'),
    workflow_namespace: workflowArgs.workflow_namespace,
  },
  request: (args) => ({
    method: 'GET',
    path: `${path`/workflows/${namespace(args.workflow_namespace)}/${workflowName(args.workflow_name)}/versions`}/${args.version}`,
  }),
  result: wrapped('workflow'),
  errors: {
    404: ({ workflow_namespace, workflow_name, version }) =>
      `Workflow '${workflow_namespace}/${workflow_name}' version ${version} not found`,
  },
  doing: 'retrieving workflow version',
  effect: 'reads',
})
