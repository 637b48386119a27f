import { Fault } from './faults.ts'

/** For `.catch(undefinedIfNotFound)`: turns a `not_found` fault into undefined and rethrows every other error. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (error instanceof Fault && error.kind === 'not_found') return undefined
  throw error
}
