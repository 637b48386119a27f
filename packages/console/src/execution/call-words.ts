import type { Call, CallState } from './calls.ts'
import { MARKS, type MarkName } from './lane-marks.tsx'

/** States of calls in words. */
export const STATE_WORDS: Record<CallState, string> = {
  running: 'running',
  completed: 'completed',
  failed: 'failed',
  paused: 'paused',
  awaiting: 'waits for approval',
  rejected: 'rejected',
}

/** Events of a call beyond its state, each with a shape. */
export const marksOf = (call: Call): MarkName[] => [
  ...(call.retries > 0 ? (['retry'] as const) : []),
  ...(call.isCached ? (['cached'] as const) : []),
  ...(call.hasFallback ? (['fallback'] as const) : []),
  ...(call.rollback || call.isCompensated ? (['rollback'] as const) : []),
  ...(call.isCompensating ? (['compensating'] as const) : []),
]

/** A mark of a call in words. */
export const wordOf = (name: MarkName, { retries, isCompensated }: Call): string => {
  if (name === 'retry') return `${retries} ${retries === 1 ? 'retry' : 'retries'}`
  if (name === 'rollback') return isCompensated ? 'rolled back' : 'rollback not completed'
  return MARKS[name].word
}
