import type { Settings } from '@windlass/runtime/config/settings'
import { invalid } from '@windlass/runtime/faults'
import type { Caller } from '../access/caller.ts'

/**
 * Returns how many executions are above a new one: 0, or for a nested run one more than above the
 * execution that starts it. Refuses a run beyond `max_nesting`, so that a workflow that calls itself ends.
 */
export function nestingOf(
  { execution }: Caller,
  { max_nesting }: Pick<Settings['quotas'], 'max_nesting'>,
): number {
  if (!execution) return 0
  const depth = (execution.depth ?? 0) + 1
  if (max_nesting > 0 && depth > max_nesting)
    throw invalid(
      `The run is nested ${depth} deep, and [svc.quotas].max_nesting is ${max_nesting}: ` +
        'end the recursion, or raise the limit.',
    )
  return depth
}
