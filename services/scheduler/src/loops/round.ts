import { deliver } from '../deliver.ts'
import { fire } from '../fire.ts'
import { check } from '../outcomes.ts'
import type { Parts } from '../parts.ts'
import { retry } from '../retry.ts'
import * as due from '../store/due.ts'
import * as ticks from '../store/ticks.ts'

const PURGE_BATCH = 5_000

/** Does whatever is due, one batch of each kind, and answers in how many milliseconds there is more to do. */
export async function round(parts: Parts): Promise<number> {
  const seen = await due.glance(parts.db)
  if (!seen) return Number.POSITIVE_INFINITY
  const { fire_ms, retry_ms, check_ms, purge } = seen
  const isDue = (ms: number | undefined) => ms !== undefined && ms <= 0

  if (isDue(fire_ms)) await deliver(parts, await fire(parts))
  if (isDue(retry_ms)) await retry(parts)
  if (isDue(check_ms)) await check(parts)
  if (purge) await parts.db.tx((tx) => ticks.purge(tx, PURGE_BATCH))

  if (purge || [fire_ms, retry_ms, check_ms].some(isDue)) return 0
  return Math.min(...[fire_ms, retry_ms, check_ms].map((ms) => ms ?? Number.POSITIVE_INFINITY))
}
