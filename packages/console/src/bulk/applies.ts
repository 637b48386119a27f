import type { BulkAction } from '../api/bulk.ts'
import { hasEnded } from '../format/states.ts'

/** True if an action has an effect on an execution in this state. */
export function applies(action: BulkAction, state: string): boolean {
  if (action === 'cancel') return !hasEnded(state) && state !== 'CANCELLING'
  return repeats(action) || state === 'PAUSED'
}

/** True for an action that starts a new execution for each. */
export const repeats = (action: BulkAction): boolean => action === 'rerun' || action === 'fork'

/** The action to begin with: a cancel where one is possible. */
export const firstFor = (rows: readonly { state: string }[]): BulkAction =>
  rows.some(({ state }) => applies('cancel', state)) ? 'cancel' : 'rerun'
