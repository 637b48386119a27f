import { parseConfig } from './domain/config.ts'
import type { Clockwork, Recurrence } from './domain/recurrence.ts'

const MAX_KNOWN = 2_000
const known = new Map<string, Recurrence>()

/** Reads a stored configuration. Checking a time zone costs more than computing a tick, so readings are remembered. */
export function recurrenceOf(schedule_config: string): Recurrence {
  const found = known.get(schedule_config)
  if (found) return found
  const recurrence = parseConfig(schedule_config)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(schedule_config, recurrence)
  return recurrence
}

/** What a stored schedule goes by. */
export const clockworkOf = (row: { schedule_config: string; anchor_at: Date }): Clockwork => ({
  recurrence: recurrenceOf(row.schedule_config),
  anchor: row.anchor_at,
})
