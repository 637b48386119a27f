import { PRIORITY_PROBLEM } from '@windlass/domain/priority'
import { type CommandOption, type ParsedArguments, UsageError } from './command.ts'

/** Level in the queue of an execution that a command starts. */
export const priorityOption = {
  priority: { type: 'string', value: 'N', about: 'level in the queue, from 0 to 9' },
} satisfies Record<string, CommandOption>

/** Returns the priority for the query, or undefined if none is given. Throws UsageError. */
export function readPriority({ options: { priority } }: ParsedArguments): string | undefined {
  if (priority === undefined) return undefined
  if (!/^[0-9]$/.test(String(priority))) throw new UsageError(`--priority ${PRIORITY_PROBLEM}`)
  return String(priority)
}
