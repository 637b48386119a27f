import { problemOfTags, type Tags } from '@windlass/domain/tags'
import { type Option, optionFault, requireConstant } from './option.ts'

/** Reads the tags that the executions of a workflow get; undefined without tags. */
export function readTags(option: Option | undefined): Tags | undefined {
  if (!option) return undefined
  const value = requireConstant(option)
  if (value === null) return undefined
  const entries = value instanceof Map ? [...value] : undefined
  if (!entries?.every((entry): entry is [string, string] => entry.every(isText)))
    throw optionFault(option, 'it must be a dictionary of strings')
  const tags = Object.fromEntries(entries)
  const problem = problemOfTags(tags)
  if (problem !== undefined) throw optionFault(option, problem)
  return entries.length > 0 ? tags : undefined
}

const isText = (value: unknown): value is string => typeof value === 'string'
