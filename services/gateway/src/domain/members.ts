import { type Problem, unprocessable } from '@windlass/runtime/faults'
import { membersOf } from '@windlass/runtime/json/json'

/**
 * JSON parsers disagree on which of two members with one name counts: one could validate the first and
 * another use the second.
 */
export const repeated = (loc: Problem['loc']) =>
  unprocessable({ loc, msg: 'given more than once', type: 'repeated' })

/** Returns the members of an object without duplicates, or undefined for another value. */
export const membersOnce = (text: string, place: Problem['loc']): Map<string, string> | undefined =>
  membersOf(text, (name) => {
    throw repeated([...place, name])
  })
