import { Fault } from '@windlass/runtime/faults'

/**
 * Asks at each beat whether the reader of a stream may still read it, and `end`s it once that is
 * denied. While nobody can say, it goes on: it was let in by somebody who could. Answers what stops it.
 */
export function recheckAccess(
  recheck: () => Promise<unknown>,
  intervalMs: number,
  end: (refusal: Fault) => void,
): () => void {
  let isAsking = false
  const beat = async () => {
    if (isAsking) return
    isAsking = true
    try {
      await recheck()
    } catch (error) {
      if (error instanceof Fault && REFUSALS.has(error.kind)) end(error)
    } finally {
      isAsking = false
    }
  }
  const timer = setInterval(() => void beat(), intervalMs)
  return () => clearInterval(timer)
}

const REFUSALS: ReadonlySet<string> = new Set(['unauthenticated', 'forbidden'])
