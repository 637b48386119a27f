import { Fault, notFound } from '@windlass/runtime/faults'
import { keyOf, type WorkflowName } from '../store/workflow-versions.ts'

/** Refusal for a workflow, or with `version` above 0 for that version, that is absent or deleted. */
export const workflowNotFound = (name: WorkflowName, version = 0): Fault =>
  version === 0
    ? notFound('Workflow', keyOf(name))
    : new Fault('not_found', `Workflow '${keyOf(name)}' version ${version} not found`)
