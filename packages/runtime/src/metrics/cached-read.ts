import { waitAtMost } from '../timeout.ts'

const REUSE_MS = 5_000
const TIMEOUT_MS = 3_000

/**
 * A read that collections share for five seconds, because `/metrics` asks for no credential; undefined
 * while it fails or takes longer than three seconds.
 */
export function cachedRead<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let last: { at: number; value: Promise<T | undefined> } | undefined
  return () => {
    const now = performance.now()
    if (!last || now - last.at > REUSE_MS) last = { at: now, value: readInTime(read) }
    return last.value
  }
}

async function readInTime<T>(read: () => Promise<T>): Promise<T | undefined> {
  let value: T | undefined
  const reading = read().then((result) => {
    value = result
  })
  await waitAtMost(TIMEOUT_MS, reading).catch(() => {})
  return value
}
