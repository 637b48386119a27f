import { createHash } from 'node:crypto'

/**
 * Returns the id of an event that a worker sent without one: 16 hex digits, as workers make them. It depends on
 * the content only, so that a repeated checkpoint appends nothing.
 */
export const deriveEventId = (event: object): string =>
  createHash('sha256').update(JSON.stringify(event)).digest('hex').slice(0, 16)
