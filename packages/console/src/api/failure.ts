import { membersOf, stringOf } from '@windlass/runtime/json/json'
import { payloadPath, readPart } from './payload.ts'
import { type Answer, useQuery } from './use-query.ts'

/** The error of a failed execution, cut if it is long. */
export interface ExecutionFailure {
  type: string | undefined
  message: string
  traceback: string | undefined
}

async function readFailure(id: string, signal: AbortSignal): Promise<ExecutionFailure> {
  const { text } = await readPart(payloadPath(id, 'error'), 0, signal)
  const error = membersOf(text)
  return {
    type: stringOf(error?.get('type')),
    message: stringOf(error?.get('message')) ?? stringOf(text) ?? text,
    traceback: stringOf(error?.get('traceback')),
  }
}

/** Reads why an execution failed; reads nothing for one that has not failed. */
export const useFailure = (id: string, hasFailed: boolean): Answer<ExecutionFailure> =>
  useQuery(hasFailed ? `failure ${id}` : undefined, (signal) => readFailure(id, signal))
