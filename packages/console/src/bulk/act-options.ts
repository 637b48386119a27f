import type { BulkAct, BulkAction } from '../api/bulk.ts'
import { problemOfJson } from '../start/form.ts'
import { repeats } from './applies.ts'

/** Texts of a form for an act; an empty one leaves the value as each execution has it. */
export interface Typed {
  /** The last entry of each log that a fork begins with. */
  after: string
  version: string
  /** JSON text. */
  input: string
}

export const NOTHING_TYPED: Typed = { after: '0', version: '', input: '' }

const isWholeFrom = (least: number, text: string) => /^\d{1,9}$/.test(text) && Number(text) >= least

/** Why what is typed cannot be sent; undefined if it can. */
export function problemIn(action: BulkAction, { after, version, input }: Typed) {
  if (!repeats(action)) return undefined
  if (action === 'fork' && !isWholeFrom(0, after))
    return 'After entry: must be a whole number from 0.'
  if (version !== '' && !isWholeFrom(1, version)) return 'Version: must be a whole number from 1.'
  const problem = input === '' ? undefined : problemOfJson(input)
  return problem && `Input: ${problem}`
}

/** The act of what is typed, which has no problem. */
export function actOf(action: BulkAction, { after, version, input }: Typed): BulkAct {
  if (!repeats(action)) return { action }
  return {
    action,
    ...(action === 'fork' && { after: Number(after) }),
    ...(version !== '' && { version: Number(version) }),
    ...(input !== '' && { input }),
  }
}
