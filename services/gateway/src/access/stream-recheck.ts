import type { Fault } from '@windlass/runtime/faults'
import { isRefusal } from '../http/is-refusal.ts'

/**
 * Repeats the access check of a stream at each interval and calls `end` once it is denied. A check
 * that fails for another reason leaves the stream open: it was authorized before. Returns the
 * function that stops the checks.
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
      if (isRefusal(error)) end(error)
    } finally {
      isAsking = false
    }
  }
  const timer = setInterval(() => void beat(), intervalMs)
  return () => clearInterval(timer)
}
