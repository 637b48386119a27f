import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { toPayload } from '@windlass/api-client/payload'
import { Failure, UsageError } from './command.ts'

/**
 * Reads an input argument: JSON text, `@file`, or `-` for standard input; without one the input is
 * null. JSON is sent unchanged, other text as a string.
 */
export async function readInput(argument: string | undefined): Promise<string> {
  if (argument === '-') return toPayload((await text(process.stdin)).trim())
  if (argument?.startsWith('@'))
    return toPayload(readBytes(argument.slice(1)).toString('utf8').trim())
  return toPayload(argument ?? '')
}

/**
 * Reads a text argument: `@file`, `-` for standard input, else the argument itself. Removes one line break
 * at the end.
 */
export async function readText(argument: string): Promise<string> {
  const piped = argument === '-' ? await text(process.stdin) : undefined
  const content = argument.startsWith('@') ? readBytes(argument.slice(1)).toString('utf8') : piped
  return content?.replace(/\r?\n$/, '') ?? argument
}

/** Reads a file; throws Failure with the reason. */
export function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Failure(`cannot read ${path}: ${(error as Error).message}`)
  }
}

/** Parses `a,b`: the items between commas, without blanks around them. */
export const parseList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)

/** The same as a JSON text; undefined without a text. */
export const listJson = (text: string | boolean | undefined): string | undefined =>
  text === undefined ? undefined : JSON.stringify(parseList(String(text)))

export interface WorkflowRef {
  namespace: string
  name: string
}

/** Parses `namespace/name`, or `name` in the default namespace. */
export function parseWorkflowRef(ref: string): WorkflowRef {
  const [a = '', b, ...rest] = ref.split('/')
  if (rest.length > 0)
    throw new UsageError(`'${ref}' is not a workflow reference; use name or namespace/name`)
  return b === undefined ? { namespace: 'default', name: a } : { namespace: a, name: b }
}
