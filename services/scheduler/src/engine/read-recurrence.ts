import { parseConfig } from '../domain/config.ts'
import type { AnchoredRecurrence, Recurrence } from '../domain/recurrence.ts'

const MAX_CACHED = 2_000
const cache = new Map<string, Recurrence>()

/** Reads a stored configuration. Checking a time zone costs more than computing a tick, so readings are remembered. */
export function readRecurrence(schedule_config: string): Recurrence {
  const found = cache.get(schedule_config)
  if (found) return found
  const recurrence = parseConfig(schedule_config)
  if (cache.size >= MAX_CACHED) cache.clear()
  cache.set(schedule_config, recurrence)
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
