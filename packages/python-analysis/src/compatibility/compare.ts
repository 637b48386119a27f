import type { Schema } from '../schema/known-types.ts'
import { findIncompatibilities, type Problem } from './incompatibilities.ts'
import { makeSamples } from './samples.ts'
import { isValid } from './validator.ts'

/**
 * `compatible`: proved, every input that the older version takes the newer one takes too.
 * `incompatible`: disproved by an example. `unknown`: neither.
 */
export type Compatibility = 'compatible' | 'incompatible' | 'unknown'

export interface Verdict {
  compatibility: Compatibility
  /** Where it was not proved, and why. */
  problems: Problem[]
  /** An input that the older version takes and the newer one refuses. */
  example?: { value: unknown }
}

export interface Comparison extends Verdict {
  /** The same for inputs that have only members which the older version names. */
  ofNamedMembers: Compatibility
}

const ANYTHING: Schema = {}

/** Compares the input schemas of two versions; without a schema a version takes anything. */
export function compare(older = ANYTHING, newer = ANYTHING): Comparison {
  const named = decide(closeObjects(older), newer)
  // What refuses such an input refuses it among all others too.
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

/** The same schema without the members that no class names. */
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
