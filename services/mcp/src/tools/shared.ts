import { getElements, getMembers, toJsonObject } from '@windlass/api-client/payload'
import { MAX_PRIORITY } from '@windlass/domain/priority'
import { z } from 'zod'

export const workflowArgs = {
  workflow_name: z.string().describe('Name of the workflow'),
  workflow_namespace: z.string().default('default').describe('Namespace of the workflow'),
}

export const executionArg = { execution_id: z.string().describe('Id of the execution') }

export const detailedArg = {
  detailed: z.boolean().default(false).describe('Return the full context with all events'),
}

export const priorityArg = {
  priority: z
    .int()
    .min(0)
    .max(MAX_PRIORITY)
    .optional()
    .describe(`Level in the queue, 0 to ${MAX_PRIORITY}; by default that of the workflow`),
}

export const pageArgs = {
  limit: z.int().default(50).describe('Maximum number of items'),
  offset: z.int().default(0).describe('Number of items to skip'),
}

export const detailedQuery = (detailed: boolean) => ({ detailed: detailed ? 'true' : undefined })

const SUCCESS = { success: 'true' }

const anyObject = z.looseObject({})
const anyList = z.array(z.unknown())

/** A result `{success: true, <name>: <answer>}`, of an object. */
export const wrapAs = (name: string) => ({
  output: { [name]: anyObject },
  result: (answer: string) => toJsonObject({ ...SUCCESS, [name]: answer }),
})

/** A result `{success: true, <name>: [...], count}`. */
export const wrapListAs = (name: string) => ({
  output: { [name]: anyList, count: z.int() },
  result: (answer: string) =>
    toJsonObject({ ...SUCCESS, [name]: answer, count: String(getElements(answer).length) }),
})

/** A result `{success: true, …}` with these members of the answer. */
export const selectMembers = (output: z.ZodRawShape) => ({
  output,
  result: (answer: string) =>
    toJsonObject({ ...SUCCESS, ...getMembers(answer, Object.keys(output)) }),
})

export const messageResult = selectMembers({ message: z.string() })

/** The members of a page, with the name of its list. */
export const pageOf = (list: string) => ({
  [list]: anyList,
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})

const SUMMARY = {
  workflow_id: z.string(),
  workflow_namespace: z.string(),
  workflow_name: z.string(),
  execution_id: z.string(),
  input: z.unknown(),
  output: z.unknown(),
  state: z.string(),
  current_worker: z.string(),
}

/** An execution: its summary without `success`, or with `detailed` the whole context unchanged. */
export const executionResult = {
  output: { ...SUMMARY, events: anyList },
  result: (answer: string, { detailed }: { detailed: boolean }) =>
    detailed ? answer : toJsonObject(getMembers(answer, Object.keys(SUMMARY))),
}

interface WorkflowArgs {
  workflow_name: string
  workflow_namespace: string
}

export const workflowNotFound = ({ workflow_namespace, workflow_name }: WorkflowArgs) =>
  `Workflow '${workflow_namespace}/${workflow_name}' not found`

export const executionNotFound = ({ execution_id }: { execution_id: string }) =>
  `Execution '${execution_id}' not found`
