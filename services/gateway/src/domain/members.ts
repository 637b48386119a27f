import { type Problem, unprocessable } from '@windlass/runtime/faults'
import { membersOf } from '@windlass/runtime/json/json'

/** Which of two equal members counts, readers do not agree on: what passed the one would steer the other. */
export const repeated = (loc: Problem['loc']) =>
  unprocessable({ loc, msg: 'given more than once', type: 'repeated' })

/** The members of an object of which each may be given once, or undefined for what is none. */
export const membersOnce = (text: string, place: Problem['loc']): Map<string, string> | undefined =>
  membersOf(text, (name) => {
    throw repeated([...place, name])
  })
