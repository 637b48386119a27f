import { parseConfig } from './domain/config.ts'
import type { AnchoredRecurrence, Recurrence } from './domain/recurrence.ts'

const MAX_KNOWN = 2_000
const known = new Map<string, Recurrence>()

/** Reads a stored configuration. Checking a time zone costs more than computing a tick, so readings are remembered. */
export function readRecurrence(schedule_config: string): Recurrence {
  const found = known.get(schedule_config)
  if (found) return found
  const recurrence = parseConfig(schedule_config)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(schedule_config, recurrence)
  return recurrence
}

/** What a stored schedule goes by. */
export const toAnchoredRecurrence = (row: {
  schedule_config: string
  anchor_at: Date
}): AnchoredRecurrence => ({
  recurrence: readRecurrence(row.schedule_config),
  anchor: row.anchor_at,
})
