import type { Schema } from '../schema/known-types.ts'
import { numberAt } from './subschemas.ts'

interface Bound {
  value: number
  exclusive: boolean
}

/** Returns why a number valid for the older schema may violate a bound of the newer one. */
export function findBoundProblem(was: Schema, is: Schema): string | undefined {
  const [least, most] = [lowest(is), highest(is)]
  if (!isTighter(lowest(was), least)) {
    return `it must be ${least.exclusive ? 'above' : 'at least'} ${least.value}`
  }
  if (!isTighter(negate(highest(was)), negate(most))) {
    return `it must be ${most.exclusive ? 'below' : 'at most'} ${most.value}`
  }
  const step = numberAt(is, 'multipleOf', undefined)
  return step === undefined || impliesMultiple(was, step)
    ? undefined
    : `it must be a multiple of ${step}`
}

/** True if every number above `inner` is above `outer`. */
const isTighter = (inner: Bound, outer: Bound): boolean =>
  inner.value > outer.value ||
  (inner.value === outer.value && (inner.exclusive || !outer.exclusive))

const lowest = (schema: Schema): Bound => {
  const inclusive = numberAt(schema, 'minimum', Number.NEGATIVE_INFINITY)
  const exclusive = numberAt(schema, 'exclusiveMinimum', Number.NEGATIVE_INFINITY)
  if (exclusive < inclusive || exclusive === Number.NEGATIVE_INFINITY) {
    return { value: inclusive, exclusive: false }
  }
  return toInclusive(schema, exclusive, 1)
}

const highest = (schema: Schema): Bound => {
  const inclusive = numberAt(schema, 'maximum', Number.POSITIVE_INFINITY)
  const exclusive = numberAt(schema, 'exclusiveMaximum', Number.POSITIVE_INFINITY)
  if (exclusive > inclusive || exclusive === Number.POSITIVE_INFINITY) {
    return { value: inclusive, exclusive: false }
  }
  return toInclusive(schema, exclusive, -1)
}

/** Converts an exclusive bound of integers to an inclusive one: above 0 is at least 1. */
function toInclusive({ type }: Schema, value: number, step: 1 | -1): Bound {
  const counts = type === 'integer' && Number.isSafeInteger(value)
  return counts ? { value: value + step, exclusive: false } : { value, exclusive: true }
}

const negate = ({ value, exclusive }: Bound): Bound => ({ value: -value, exclusive })

/**
 * True if all older values are multiples of `step`. Fractions are multiples within a tolerance
 * only, so equal steps or integers are required.
 */
function impliesMultiple(was: Schema, step: number): boolean {
  const before = numberAt(was, 'multipleOf', was.type === 'integer' ? 1 : undefined)
  if (before === undefined || before === step) return before === step
  const wholes = [before, step].every((one) => Number.isSafeInteger(one) && one > 0)
  return was.type === 'integer' && wholes && before % step === 0
}

/** Returns why a string valid for the older schema may violate a rule of the newer one. */
export function findTextProblem(was: Schema, is: Schema): string | undefined {
  const least = numberAt(is, 'minLength', 0)
  const most = numberAt(is, 'maxLength', Number.POSITIVE_INFINITY)
  if (numberAt(was, 'minLength', 0) < least) return `it must have at least ${least} characters`
  if (numberAt(was, 'maxLength', Number.POSITIVE_INFINITY) > most) {
    return `it must have at most ${most} characters`
  }
  if (is.pattern !== undefined && is.pattern !== was.pattern) {
    return `it must match ${String(is.pattern).slice(0, 120)}`
  }
  const changed = is.format !== undefined && is.format !== was.format
  return changed ? `its format is ${String(is.format)}` : undefined
}
