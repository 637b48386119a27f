/** Highest level in the ready queue; the lowest is 0. */
export const MAX_PRIORITY = 9
/** Level of executions for which neither the start nor the workflow gives one. */
export const DEFAULT_PRIORITY = 5
/** Level of synchronous runs for which none is given, because a caller waits for them. */
export const SYNC_PRIORITY = 6

export const PRIORITY_PROBLEM = `must be a whole number from 0 to ${MAX_PRIORITY}`

export const isPriority = (value: number): boolean =>
  Number.isInteger(value) && value >= 0 && value <= MAX_PRIORITY
