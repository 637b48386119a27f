import type { Node } from 'web-tree-sitter'
import { stringValue } from '../python/strings.ts'

/**
 * Returns a text that is equal for keys of mapping patterns that Python finds equal, such as `0`, `0.0` and
 * `False`; undefined for a key that is not a constant, or whose value is not known here.
 */
export function patternKey(parts: readonly Node[]): string | undefined {
  const key = parts.at(-1)
  if (!key) return undefined
  if (/^(true|false|none)$/.test(key.type)) return CONSTANTS[key.type]
  if (key.type === 'string') {
    const value = stringValue(key)
    return value === undefined ? undefined : `string ${value}`
  }
  return /^(integer|float)$/.test(key.type) ? numberKey(parts) : undefined
}

const CONSTANTS: Record<string, string> = { true: 'number 1', false: 'number 0', none: 'none' }

function numberKey(parts: readonly Node[]): string | undefined {
  const text = parts
    .map((part) => part.text)
    .join('')
    .replaceAll('_', '')
  const isInteger = parts.at(-1)?.type === 'integer'
  if (/j$/i.test(text) || (isInteger && text.startsWith('-0'))) return undefined
  const value = Number(text)
  const isExact = Number.isFinite(value) && (isInteger ? Number.isSafeInteger(value) : true)
  return isExact ? `number ${value === 0 ? 0 : value}` : undefined
}
