import type { Schema } from '../schema/known-types.ts'
import { findIncompatibilities, type Problem } from './incompatibilities.ts'
import { makeSamples } from './samples.ts'
import { isValid } from './validator.ts'

/**
 * `compatible`: proof that the newer version accepts every input of the older one. `incompatible`:
 * a counterexample exists. `unknown`: neither was found.
 */
export type Compatibility = 'compatible' | 'incompatible' | 'unknown'

export interface Verdict {
  compatibility: Compatibility
  /** Places that were not proved, with reasons. */
  problems: Problem[]
  /** Input that the older version accepts and the newer one rejects. */
  example?: { value: unknown }
}

export interface Comparison extends Verdict {
  /** Verdict for inputs that contain only members named by the older version. */
  ofNamedMembers: Compatibility
}

const ANYTHING: Schema = {}

/** Compares the input schemas of two versions. A version without a schema accepts any input. */
export function compare(older = ANYTHING, newer = ANYTHING): Comparison {
  const named = decide(closeObjects(older), newer)
  // A counterexample with named members is a counterexample among all inputs.
  const whole = named.example ? named : decide(older, newer)
  return { ...whole, ofNamedMembers: named.compatibility }
}

function decide(older: Schema, newer: Schema): Verdict {
  const problems = findIncompatibilities(older, newer)
  if (problems.length === 0) return { compatibility: 'compatible', problems }
  const value = makeSamples(older, newer).find(
    (sample) => isValid(older, sample, older) === true && isValid(newer, sample, newer) === false,
  )
  return value === undefined
    ? { compatibility: 'unknown', problems }
    : { compatibility: 'incompatible', problems, example: { value } }
}

/** Returns the schema without unnamed members of classes. */
function closeObjects(schema: Schema): Schema {
  const shut = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shut)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([keyword, item]) => [keyword, shut(item)])
    const isClass = 'properties' in value && !('additionalProperties' in value)
    return Object.fromEntries(isClass ? [...entries, ['additionalProperties', false]] : entries)
  }
  return shut(schema) as Schema
}
