import { LRUCache } from 'lru-cache'
import { parseConfig } from '../domain/config.ts'
import type { AnchoredRecurrence, Recurrence } from '../domain/recurrence.ts'

const MAX_CACHED = 2_000
const cache = new LRUCache<string, Recurrence>({ max: MAX_CACHED })

/**
 * Parses a stored configuration. Cached: the check of a time zone costs more than the computation
 * of a tick.
 */
export function readRecurrence(schedule_config: string): Recurrence {
  const found = cache.get(schedule_config)
  if (found) return found
  const recurrence = parseConfig(schedule_config)
  cache.set(schedule_config, recurrence)
  return recurrence
}

/** Recurrence and anchor of a stored schedule. */
export const toAnchoredRecurrence = (row: {
  schedule_config: string
  anchor_at: Date
}): AnchoredRecurrence => ({
  recurrence: readRecurrence(row.schedule_config),
  anchor: row.anchor_at,
})
