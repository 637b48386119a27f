import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { linearPattern } from '../pattern.ts'

export type Schema = Record<string, unknown>

/** Problems of a value; none if it is valid. */
export type Validator = (value: unknown, chars: number) => readonly ErrorObject[]

/** Thrown when a check takes more steps than a value of that size may take. */
export class TooComplex extends Error {
  override readonly name = 'TooComplex'
}

/**
 * Budget of steps, one for each alternative and for each character that is matched against a pattern; it
 * grows with the input.
 */
const BASE_STEPS = 20_000
const STEPS_PER_CHAR = 20
const MAX_STEPS = 20_000_000
/** For a longer input only the first problem is reported: a million problems would take gigabytes. */
const MAX_CHARS_FOR_ALL = 262_144

/**
 * Compiles a validator for an uploaded JSON Schema and values of any client. Time and memory are
 * proportional to the value, whatever the schema. Formats are annotations, as in the draft.
 */
export function validatorOf(schema: Schema): Validator {
  const budget = new Budget()
  let first: ValidateFunction | undefined
  let all: ValidateFunction | undefined
  return bounded((value, chars) => {
    first ??= compile(schema, { budget, allErrors: false })
    budget.fill(chars)
    if (first(value)) return []
    if (chars > MAX_CHARS_FOR_ALL) return first.errors ?? []
    all ??= compile(schema, { budget, allErrors: true })
    budget.fill(chars)
    all(value)
    return all.errors ?? []
  })
}

/** A type that refers only to itself, and types nested without end, would not terminate. */
const bounded =
  (validate: Validator): Validator =>
  (value, chars) => {
    try {
      return validate(value, chars)
    } catch (error) {
      if (error instanceof RangeError) throw new TooComplex('the input cannot be checked')
      throw error
    }
  }

class Budget {
  #left = 0

  fill(chars: number): void {
    this.#left = Math.min(BASE_STEPS + STEPS_PER_CHAR * chars, MAX_STEPS)
  }

  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new TooComplex('the input takes too much work to check')
  }
}

interface How {
  budget: Budget
  allErrors: boolean
}

const STEP = 'x-step'

/** Ajv keeps every schema that it has compiled, so each schema gets an Ajv instance of its own. */
function compile(schema: Schema, { budget, allErrors }: How): ValidateFunction {
  const ajv = new Ajv2020({
    allErrors,
    strict: false,
    validateFormats: false,
    ownProperties: true,
    multipleOfPrecision: 9,
    // The catalog generated the schema; validating it against the draft would take longer than everything
    // else here.
    meta: false,
    validateSchema: false,
  })
  // With this option on, all alternatives are tried even after one has matched.
  ajv.opts.unevaluated = false
  ajv.addKeyword({
    keyword: STEP,
    validate: () => {
      budget.spend(1)
      return true
    },
  })
  // Ajv's own implementation may backtrack without bound.
  ajv.removeKeyword('pattern')
  ajv.addKeyword({
    keyword: 'pattern',
    type: 'string',
    compile: (pattern: string) => matcher(pattern, budget),
    error: { message: 'must match the pattern' },
  })
  // Ajv's own implementation compares every pair.
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    compile: (on: boolean) => (items: unknown[]) =>
      !on || new Set(items.map(keyOf)).size === items.length,
    error: { message: 'must NOT have duplicate items' },
  })
  ajv.removeKeyword('enum')
  ajv.addKeyword({
    keyword: 'enum',
    compile: (values: unknown[]) => {
      const known = new Set(values.map(keyOf))
      return (value: unknown) => known.has(keyOf(value))
    },
    error: { message: 'must be equal to one of the allowed values' },
  })
  return ajv.compile(counted(schema) as Schema)
}

/**
 * Counts every alternative before it is evaluated, because alternatives make the validator visit a value
 * more than once.
 */
function counted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(counted)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).map(([keyword, value]) => [
    keyword,
    keyword === 'anyOf' && Array.isArray(value)
      ? value.map((one) => ({ allOf: [{ [STEP]: true }, counted(one)] }))
      : counted(value),
  ])
  return Object.fromEntries(entries)
}

/** A pattern without a linear-time match is left to the workflow. */
function matcher(pattern: string, budget: Budget): (text: string) => boolean {
  const compiled = linearPattern(pattern)
  if (!compiled) return () => true
  return (text) => {
    budget.spend(text.length * compiled.size)
    return compiled.test(text)
  }
}

/** Returns equal texts for equal JSON values, whatever the order of their members. */
function keyOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(keyOf).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${keyOf(item)}`).join()}}`
}
