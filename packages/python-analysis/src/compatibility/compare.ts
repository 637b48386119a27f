import type { Schema } from '../schema/known-types.ts'
import { type Problem, problemsBetween } from './incompatibilities.ts'
import { samplesOf } from './samples.ts'
import { accepts } from './validator.ts'

/**
 * `compatible`: proved, every input that the older version takes the newer one takes too.
 * `incompatible`: disproved by an example. `unknown`: neither.
 */
export type Compatibility = 'compatible' | 'incompatible' | 'unknown'

export interface Judgement {
  compatibility: Compatibility
  /** Where it was not proved, and why. */
  problems: Problem[]
  /** An input that the older version takes and the newer one refuses. */
  example?: { value: unknown }
}

export interface Comparison extends Judgement {
  /** The same for inputs that have only members which the older version names. */
  ofNamedMembers: Compatibility
}

const ANYTHING: Schema = {}

/** Compares the input schemas of two versions; without a schema a version takes anything. */
export function compare(older = ANYTHING, newer = ANYTHING): Comparison {
  const named = judge(closed(older), newer)
  // What refuses such an input refuses it among all others too.
  const whole = named.example ? named : judge(older, newer)
  return { ...whole, ofNamedMembers: named.compatibility }
}

function judge(older: Schema, newer: Schema): Judgement {
  const problems = problemsBetween(older, newer)
  if (problems.length === 0) return { compatibility: 'compatible', problems }
  const value = samplesOf(older, newer).find(
    (sample) => accepts(older, sample, older) === true && accepts(newer, sample, newer) === false,
  )
  return value === undefined
    ? { compatibility: 'unknown', problems }
    : { compatibility: 'incompatible', problems, example: { value } }
}

/** The same schema without the members that no class names. */
function closed(schema: Schema): Schema {
  const shut = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shut)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([keyword, item]) => [keyword, shut(item)])
    const isClass = 'properties' in value && !('additionalProperties' in value)
    return Object.fromEntries(isClass ? [...entries, ['additionalProperties', false]] : entries)
  }
  return shut(schema) as Schema
}
