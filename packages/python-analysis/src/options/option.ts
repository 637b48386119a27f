import { invalid } from '@windlass/runtime/faults'
import { type Constant, constantOf } from '../python/constants.ts'
import type { Expression } from '../python/expression.ts'

/** One option of a workflow or task, for those who read it and those who must be told what is wrong with it. */
export interface Option {
  /** `workflow 'report'`. */
  owner: string
  /** `requests.memory`. */
  name: string
  value: Expression
}

/** Refuses the source for an option. */
export const optionFault = ({ owner, name }: Pick<Option, 'owner' | 'name'>, reason: string) =>
  invalid(`Invalid ${name} of ${owner}: ${reason}`)

/** The option's value; refuses one that takes running the source to know. */
export function requireConstant(option: Option): Constant {
  const value = constantOf(option.value)
  if (value === undefined) throw optionFault(option, 'it must be a constant')
  return value
}

export function requireText(option: Option): string {
  const value = requireConstant(option)
  if (typeof value !== 'string') throw optionFault(option, 'it must be text')
  return value
}

/** A list, tuple or set of text. */
export function requireTexts(option: Option): string[] {
  const value = requireConstant(option)
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw optionFault(option, 'it must be a list of text')
  }
  return value
}

export function requireNumber(option: Option): number {
  const value = requireConstant(option)
  if (typeof value !== 'number') throw optionFault(option, 'it must be a number')
  return value
}
