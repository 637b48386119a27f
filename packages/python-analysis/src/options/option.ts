import { invalid } from '@windlass/runtime/faults'
import { type Constant, constantOf } from '../python/constants.ts'
import type { Expression } from '../python/expression.ts'

/** Option of a workflow or task, with what a refusal must name. */
export interface Option {
  /** `workflow 'report'`. */
  owner: string
  /** `requests.memory`. */
  name: string
  value: Expression
}

/** Creates the refusal of a source for an option. */
export const optionFault = ({ owner, name }: Pick<Option, 'owner' | 'name'>, reason: string) =>
  invalid(`Invalid ${name} of ${owner}: ${reason}`)

/** Returns the value of an option; throws if it is not a constant. */
export function requireConstant(option: Option): Constant {
  const value = constantOf(option.value)
  if (value === undefined) throw optionFault(option, 'it must be a constant')
  return value
}

export function requireText(option: Option): string {
  const value = requireConstant(option)
  if (typeof value !== 'string') throw optionFault(option, 'it must be a string')
  return value
}

/** Returns a list, tuple or set of strings; throws for anything else. */
export function requireTexts(option: Option): string[] {
  const value = requireConstant(option)
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw optionFault(option, 'it must be a list of strings')
  }
  return value
}

export function requireNumber(option: Option): number {
  const value = requireConstant(option)
  if (typeof value !== 'number') throw optionFault(option, 'it must be a number')
  return value
}
