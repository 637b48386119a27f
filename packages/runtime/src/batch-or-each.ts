import { Fault } from './faults.ts'

export type Settled<R> = { value: R } | { error: unknown }

/**
 * Sends all items as one batch and settles each. If the batch fails with an unexpected error, the items are
 * retried one by one, so that one bad item fails alone; a Fault is the answer for all of them.
 */
export async function batchOrEach<T, R>(
  items: readonly T[],
  send: (items: readonly T[]) => Promise<R[]>,
): Promise<Settled<R>[]> {
  try {
    return (await send(items)).map((value) => ({ value }))
  } catch (error) {
    if (error instanceof Fault || items.length === 1) return items.map(() => ({ error }))
    const each = items.map((item) => batchOrEach([item], send))
    return (await Promise.all(each)).flat()
  }
}
