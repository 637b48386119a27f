/** A heartbeat answer. Without a metrics snapshot the last one stays. */
export interface Pong {
  healthy: boolean
  metrics: Record<string, number> | undefined
}

const MAX_METRICS = 64
const KEY = /^[^\p{C}]{1,64}$/u
/** A map on the wire is a plain object, where `__proto__` would be lost. */
const isKey = (key: string) => KEY.test(key) && key !== '__proto__'

/** The snapshot, or undefined when any part of it is not as it should be: then none of it counts. */
export function readMetrics(metrics: unknown): Record<string, number> | undefined {
  if (typeof metrics !== 'object' || metrics === null || Array.isArray(metrics)) return undefined
  const entries = Object.entries(metrics)
  const isValid =
    entries.length <= MAX_METRICS &&
    entries.every(([key, value]) => isKey(key) && Number.isFinite(value))
  return isValid ? Object.fromEntries(entries) : undefined
}
