/** A pong. Without metrics the last snapshot is kept. */
export interface Pong {
  healthy: boolean
  metrics: Record<string, number> | undefined
}

const MAX_METRICS = 64
const KEY = /^[^\p{C}]{1,64}$/u
/** A protobuf map is a plain object, which would drop `__proto__`. */
const isKey = (key: string) => KEY.test(key) && key !== '__proto__'

/** Returns the snapshot, or undefined if any part of it is malformed: then all of it is ignored. */
export function readMetrics(metrics: unknown): Record<string, number> | undefined {
  if (typeof metrics !== 'object' || metrics === null || Array.isArray(metrics)) return undefined
  const entries = Object.entries(metrics)
  const isValid =
    entries.length <= MAX_METRICS &&
    entries.every(([key, value]) => isKey(key) && Number.isFinite(value))
  return isValid ? Object.fromEntries(entries) : undefined
}
