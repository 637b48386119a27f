import type { Constant } from '../python/constants.ts'
import { constant, type Option, refuse } from './option.ts'

const LABEL = /^[^\p{C}]{1,255}$/u
const MAX_LABELS = 64

/** The labels a worker must have, as text; undefined when there are none. */
export function affinityOf(option: Option): Record<string, string> | undefined {
  const value = constant(option)
  if (value === null) return undefined
  if (!(value instanceof Map)) throw refuse(option, 'it must be a dictionary of labels')
  if (value.size > MAX_LABELS) throw refuse(option, `at most ${MAX_LABELS} labels`)
  const labels = [...value].map(([key, wanted]) => [label(option, key), label(option, wanted)])
  return labels.length > 0 ? Object.fromEntries(labels) : undefined
}

function label(option: Option, value: Constant): string {
  const text = labelText(value)
  // Label maps are plain objects on the wire, where this name would be lost, and the constraint with it.
  if (text === undefined || !LABEL.test(text) || text === '__proto__') {
    throw refuse(option, 'labels and their values are 1 to 255 printable characters')
  }
  return text
}

/** As Python's `str` has it. */
function labelText(value: Constant): string | undefined {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
