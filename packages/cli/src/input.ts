import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { toPayload } from '@windlass/api-client/payload'
import { Failure, UsageError } from './command.ts'

/**
 * An input as given on the command line: JSON text, `@file`, or `-` for standard input; none is
 * null. It travels as it is; what is no JSON travels as a string.
 */
export async function readInput(given: string | undefined): Promise<string> {
  if (given === '-') return toPayload((await text(process.stdin)).trim())
  if (given?.startsWith('@')) return toPayload(readBytes(given.slice(1)).toString('utf8').trim())
  return toPayload(given ?? '')
}

/** A value that is text, not JSON: `@file`, `-` for standard input, else as given. The line end at its end is not part of it. */
export async function readText(given: string): Promise<string> {
  const read = given === '-' ? await text(process.stdin) : undefined
  const kept = given.startsWith('@') ? readBytes(given.slice(1)).toString('utf8') : read
  return kept?.replace(/\r?\n$/, '') ?? given
}

/** A file's bytes, or a Failure that says why not. */
export function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Failure(`cannot read ${path}: ${(error as Error).message}`)
  }
}

export interface WorkflowRef {
  namespace: string
  name: string
}

/** `name`, in the default namespace, or `namespace/name`. */
export function parseWorkflowRef(ref: string): WorkflowRef {
  const [a = '', b, ...rest] = ref.split('/')
  if (rest.length > 0) throw new UsageError(`'${ref}' is no workflow: give name or namespace/name`)
  return b === undefined ? { namespace: 'default', name: a } : { namespace: a, name: b }
}
