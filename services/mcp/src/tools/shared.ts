import { z } from 'zod'
import { elements, objectOf, pick } from '../domain/payload.ts'

export const workflowArgs = {
  workflow_name: z.string().describe('Name of the workflow'),
  workflow_namespace: z.string().default('default').describe('Namespace of the workflow'),
}

export const executionArg = { execution_id: z.string().describe('Id of the execution') }

export const detailedArg = {
  detailed: z.boolean().default(false).describe('Answer the full context with all events'),
}

export const pageArgs = {
  limit: z.int().default(50).describe('How many to list at most'),
  offset: z.int().default(0).describe('How many to leave out first'),
}

export const detailedQuery = (detailed: boolean) => ({ detailed: detailed ? 'true' : undefined })

const SUCCESS = { success: 'true' }

/** `{success: true, <name>: <answer>}`. */
export const wrapped = (name: string) => (answer: string) =>
  objectOf({ ...SUCCESS, [name]: answer })

/** `{success: true, <name>: [...], count}`. */
export const counted = (name: string) => (answer: string) =>
  objectOf({ ...SUCCESS, [name]: answer, count: String(elements(answer).length) })

/** `{success: true, …}` with these members of the answer. */
export const members =
  (...names: string[]) =>
  (answer: string) =>
    objectOf({ ...SUCCESS, ...pick(answer, names) })

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

/** An execution as these tools show it: its summary bare, or the whole context as it came. */
export const execution = (answer: string, { detailed }: { detailed: boolean }) =>
  detailed ? answer : objectOf(pick(answer, SUMMARY))

interface WorkflowArgs {
  workflow_name: string
  workflow_namespace: string
}

export const noWorkflow = ({ workflow_namespace, workflow_name }: WorkflowArgs) =>
  `Workflow '${workflow_namespace}/${workflow_name}' not found`

export const noExecution = ({ execution_id }: { execution_id: string }) =>
  `Execution '${execution_id}' not found`
