import type { z } from 'zod'
import { findExpectation, keysAt } from './expectations.ts'

export type Tree = { [key: string]: unknown }

/** Settings as they were read, and where each came from. */
export interface ReadSettings {
  tree: Tree
  /** File of the settings that no variable sets. */
  file: string | undefined
  /** Variable of each setting that the environment sets, by its dotted path. */
  variables: ReadonlyMap<string, string>
}

/** Settings whose values are not repeated: secrets, and addresses that may contain passwords. */
const HIDDEN_PATH =
  /(?:secret|_key|keys|token|url|otlp_headers)$|^rpc\.keys$|^security\.encryption\.|^workers\.bootstrap_token$/
const MAX_SHOWN_CHARS = 80

/** True if the value of a setting, by its dotted path, must not be shown. */
export const isHidden = (path: string): boolean => HIDDEN_PATH.test(path)

/** Describes a problem in one line: file or variable, key, given and expected value. */
export function describeProblem(schema: z.ZodType, issue: z.core.$ZodIssue, read: ReadSettings) {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => describeUnknown(schema, [...path, key], read)).join('; ')
  const { at, value } = findGiven(read.tree, path)
  const given = isHidden(at.join('.')) ? 'has a value that is hidden here' : `is ${show(value)}`
  const { message } = issue
  if (message.startsWith('must ')) return `${nameOf(at, read)} ${given}; it ${message}`
  const expected = findExpectation(schema, at) ?? expectedIn(message)
  return `${nameOf(at, read)} ${given}; expected ${expected}`
}

function describeUnknown(schema: z.ZodType, path: string[], read: ReadSettings): string {
  const table = path.slice(0, -1)
  const keys = keysAt(schema, table)
  const known = keys.length > 0 ? `; expected one of ${keys.join(', ')}` : ''
  return `${nameOf(path, read)}: ${tableOf(table)} has no key ${path.at(-1)}${known}`
}

/** The variable that sets a path, else the file and the key in it. */
function nameOf(path: readonly string[], { file, variables }: ReadSettings): string {
  const dotted = path.join('.')
  const inner = [...variables].find(([known]) => known.startsWith(`${dotted}.`))
  const variable = variables.get(dotted) ?? inner?.[1]
  if (variable !== undefined) return variable
  return `${file === undefined ? '' : `${file}: `}${tableOf(path.slice(0, -1))}.${path.at(-1)}`
}

const tableOf = (path: readonly string[]) => `[${['svc', ...path].join('.')}]`

/** Returns the value at a path, or the innermost value around it that is not a table. */
function findGiven(tree: Tree, path: readonly string[]): { at: string[]; value: unknown } {
  const at: string[] = []
  let value: unknown = tree
  for (const key of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) break
    value = (value as Tree)[key]
    at.push(key)
  }
  return { at, value }
}

function show(value: unknown): string {
  if (value === undefined) return 'missing'
  return JSON.stringify(value).slice(0, MAX_SHOWN_CHARS)
}

/** The expectation in a message such as `Invalid input: expected string, received number`. */
const expectedIn = (message: string) =>
  /expected (.+?)(?:, received .*)?$/.exec(message)?.[1] ?? message
