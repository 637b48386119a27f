import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '@windlass/runtime/faults'

const RETRY_MS = 2_000
const PAUSE_MS = 50
/** In characters; a third of the largest message, should all of them take three bytes. */
const MAX_RUN_LENGTH = 16 * 1_048_576

/** Cuts a batch into runs that fit one message each. An item that is larger than that goes alone. */
export function inRuns<T>(items: readonly T[], lengthOf: (item: T) => number): T[][] {
  const runs: T[][] = [[]]
  let length = 0
  for (const item of items) {
    const own = lengthOf(item)
    if (length + own > MAX_RUN_LENGTH && runs.at(-1)?.length) {
      runs.push([])
      length = 0
    }
    runs.at(-1)?.push(item)
    length += own
  }
  return runs
}

/** Repeats a call that is safe to repeat while what it needs is out of reach, for up to two seconds. */
export async function persistently<T>(call: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + RETRY_MS
  for (;;) {
    try {
      return await call()
    } catch (error) {
      const passes = error instanceof Fault && error.kind === 'unavailable'
      if (!passes || Date.now() + PAUSE_MS > deadline) throw error
      await pause(PAUSE_MS)
    }
  }
}

/** Asks for all at once. What fails for another reason than an outage is asked one by one, so that one cannot spoil the others. */
export async function orAlone<T, R>(
  items: readonly T[],
  ask: (items: readonly T[]) => Promise<R[]>,
): Promise<({ value: R } | { error: unknown })[]> {
  try {
    return (await ask(items)).map((value) => ({ value }))
  } catch (error) {
    if (error instanceof Fault || items.length === 1) return items.map(() => ({ error }))
    const alone = items.map((item) => orAlone([item], ask))
    return (await Promise.all(alone)).flat()
  }
}
