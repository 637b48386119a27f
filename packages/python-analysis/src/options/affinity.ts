import type { Constant } from '../python/constants.ts'
import { type Option, optionFault, requireConstant } from './option.ts'

const LABEL = /^[^\p{C}]{1,255}$/u
const MAX_LABELS = 64

/** Reads the labels that a worker must have, as strings; undefined without labels. */
export function readAffinity(option: Option): Record<string, string> | undefined {
  const value = requireConstant(option)
  if (value === null) return undefined
  if (!(value instanceof Map)) throw optionFault(option, 'it must be a dictionary of labels')
  if (value.size > MAX_LABELS) throw optionFault(option, `at most ${MAX_LABELS} labels`)
  const labels = [...value].map(([key, wanted]) => [
    requireLabel(option, key),
    requireLabel(option, wanted),
  ])
  return labels.length > 0 ? Object.fromEntries(labels) : undefined
}

function requireLabel(option: Option, value: Constant): string {
  const text = toLabelText(value)
  // Label maps are plain objects on the wire: `__proto__` would be lost, and the constraint with
  // it.
  if (text === undefined || !LABEL.test(text) || text === '__proto__') {
    throw optionFault(option, 'labels and their values are 1 to 255 printable characters')
  }
  return text
}

/** Converts a value as Python's `str` does. */
function toLabelText(value: Constant): string | undefined {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
