import { getElements, getMembers, toJsonObject } from '@windlass/api-client/payload'
import { z } from 'zod'

export const workflowArgs = {
  workflow_name: z.string().describe('Name of the workflow'),
  workflow_namespace: z.string().default('default').describe('Namespace of the workflow'),
}

export const executionArg = { execution_id: z.string().describe('Id of the execution') }

export const detailedArg = {
  detailed: z.boolean().default(false).describe('Return the full context with all events'),
}

export const pageArgs = {
  limit: z.int().default(50).describe('Maximum number of items'),
  offset: z.int().default(0).describe('Number of items to skip'),
}

export const detailedQuery = (detailed: boolean) => ({ detailed: detailed ? 'true' : undefined })

const SUCCESS = { success: 'true' }

/** Returns `{success: true, <name>: <answer>}`. */
export const wrapAs = (name: string) => (answer: string) =>
  toJsonObject({ ...SUCCESS, [name]: answer })

/** Returns `{success: true, <name>: [...], count}`. */
export const wrapListAs = (name: string) => (answer: string) =>
  toJsonObject({ ...SUCCESS, [name]: answer, count: String(getElements(answer).length) })

/** Returns `{success: true, …}` with these members of the answer. */
export const selectMembers =
  (...names: string[]) =>
  (answer: string) =>
    toJsonObject({ ...SUCCESS, ...getMembers(answer, names) })

const SUMMARY = [
  'workflow_id',
  'workflow_namespace',
  'workflow_name',
  'execution_id',
  'input',
  'output',
  'state',
  'current_worker',
]

/** The summary of an execution without `success`, or the whole context unchanged. */
export const toExecutionView = (answer: string, { detailed }: { detailed: boolean }) =>
  detailed ? answer : toJsonObject(getMembers(answer, SUMMARY))

interface WorkflowArgs {
  workflow_name: string
  workflow_namespace: string
}

export const workflowNotFound = ({ workflow_namespace, workflow_name }: WorkflowArgs) =>
  `Workflow '${workflow_namespace}/${workflow_name}' not found`

export const executionNotFound = ({ execution_id }: { execution_id: string }) =>
  `Execution '${execution_id}' not found`
