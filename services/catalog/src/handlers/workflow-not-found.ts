import { Fault, notFound } from '@windlass/runtime/faults'
import { keyOf, type WorkflowName } from '../store/names.ts'

/** For a workflow, or a version of it where `version` is not 0, that is not there or was deleted. */
export const workflowNotFound = (name: WorkflowName, version = 0): Fault =>
  version === 0
    ? notFound('Workflow', keyOf(name))
    : new Fault('not_found', `Workflow '${keyOf(name)}' version ${version} not found`)
