const MAX_METRICS = 64
const MAX_KEY_CHARS = 64

export type Status = 'online' | 'offline' | 'unhealthy'

/** Status of a worker; `connected`: its stream is held by a dispatcher that is alive. */
export function statusOf({ connected, healthy }: { connected: boolean; healthy: boolean }): Status {
  if (!connected) return 'offline'
  return healthy ? 'online' : 'unhealthy'
}

/** JSON text of a metrics snapshot; undefined if any part is invalid, so that none of it is stored. */
export function metricsJson(values: Readonly<Record<string, number>>): string | undefined {
  const entries = Object.entries(values)
  const taken =
    entries.length <= MAX_METRICS &&
    entries.every(
      ([key, value]) => key !== '' && key.length <= MAX_KEY_CHARS && Number.isFinite(value),
    )
  return taken ? JSON.stringify(Object.fromEntries(entries)) : undefined
}
