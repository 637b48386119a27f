import type { Constant } from '../python/constants.ts'

/** Converts a constant to JSON; undefined if JSON cannot represent it. */
export function toJson(value: Constant | undefined): unknown {
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => [key, toJson(item)])
    const plain = entries.every(([key, item]) => typeof key === 'string' && item !== undefined)
    return plain ? Object.fromEntries(entries) : undefined
  }
  if (!Array.isArray(value)) return value
  const items = value.map(toJson)
  return items.includes(undefined) ? undefined : items
}
