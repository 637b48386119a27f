import { Fault } from '@windlass/runtime/faults'
import type { Declaration, DeclarationKind } from '../declaration.ts'

const TASK_OPTIONS = `name retry_max_attempts retry_delay retry_backoff retry timeout total_timeout
  heartbeat_timeout fallback rollback secret_requests config_requests metadata cache output_storage
  auth_exempt requires_approval separate_approver required_permissions record_arguments sensitive
  durability process`

const WORKFLOW_OPTIONS = `name namespace secret_requests output_storage requests affinity schedule
  durability runner routing required_permissions queue_timeout priority tags timeout on_mismatch`

/** Options that the SDK accepts. A test compares them with the SDK's own. */
export const OPTION_NAMES: Record<DeclarationKind, readonly string[]> = {
  task: TASK_OPTIONS.split(/\s+/),
  workflow: WORKFLOW_OPTIONS.split(/\s+/),
}

/**
 * Refuses options that the SDK does not have, with line and column: a worker could not import the
 * source.
 */
export function checkOptionNames({ kind, definition, options }: Declaration): void {
  for (const [name, { node }] of options.keywords) {
    if (OPTION_NAMES[kind].includes(name)) continue
    const { row, column } = (node.parent ?? node).startPosition
    const place = { line: row + 1, column: column + 1 }
    const other = kind === 'task' ? 'workflow' : 'task'
    const hint = OPTION_NAMES[other].includes(name)
      ? `it is an option of a ${other}`
      : `the options are ${OPTION_NAMES[kind].join(', ')}`
    const message = `Unknown option '${name}' of ${kind} '${definition.name}' in line ${place.line}, column ${place.column}: ${hint}`
    throw new Fault('invalid', message, { details: place })
  }
}
