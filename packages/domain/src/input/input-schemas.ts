import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { type Problem, unprocessable } from '@windlass/runtime/faults'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import { describeMissingInput } from './missing-input.ts'
import { type Schema, TooComplex, type Validator, validatorOf } from './validator.ts'

const MAX_SCHEMAS = 500
const MAX_PROBLEMS = 20

type Declared = Pick<Workflow, 'id' | 'input_schema_json'>
type Place = readonly (string | number)[]

interface Compiled {
  validate: Validator
  /** Problems of a run that has no input. */
  missing: readonly Place[]
}

/**
 * Validates inputs against the schemas that workflows declare; a schema is compiled once while it
 * is in use.
 */
export class InputSchemaCache {
  readonly #compiled = new LRUCache<string, Compiled>({ max: MAX_SCHEMAS })

  /**
   * Throws `unprocessable` with the problems found, located below `at`. Parses a copy of the input; the
   * input stays text. `null` means no input, which only a model with required members refuses.
   */
  check(workflow: Declared, input_json: string, at: Place = ['body']): void {
    const problems = this.findProblems(workflow, input_json)
    const [first, ...rest] = problems.map(({ loc, ...problem }) => ({
      loc: [...at, ...loc],
      ...problem,
    }))
    if (first) throw unprocessable(first, ...rest)
  }

  /** Returns the problems of an input, located within it. */
  findProblems({ id, input_schema_json }: Declared, input_json: string): Problem[] {
    if (input_schema_json === '' || isEncoded(input_json)) return []
    const { validate, missing } = this.#compile(id, input_schema_json)
    if (input_json.trim() === 'null') return missing.slice(0, MAX_PROBLEMS).map(toMissing)
    return problemsIn(() => validate(JSON.parse(input_json), input_json.length))
  }

  #compile(id: string, schema_json: string): Compiled {
    const known = this.#compiled.get(id)
    if (known) return known
    const schema = JSON.parse(schema_json) as Schema
    const compiled = { validate: validatorOf(schema), missing: describeMissingInput(schema) }
    this.#compiled.set(id, compiled)
    return compiled
  }
}

/** Matches the envelope of an encoded value; `docs/python/values.md` describes it. */
const ENVELOPE =
  /^\s*\{(?:\s*"(?:\$codec|key|data)"\s*:\s*"[^"\\]*"\s*(?:,(?=\s*")|(?=\}))){3}\}\s*$/

/**
 * True for a value that a codec of the caller has encoded. Only the worker can read it, and it checks the
 * input again.
 */
const isEncoded = (json: string): boolean => json.includes('"$codec"') && ENVELOPE.test(json)

const toMissing = (loc: Place): Problem => ({
  loc: [...loc],
  msg: 'Field required',
  type: 'missing',
})

function problemsIn(check: () => readonly ErrorObject[]): Problem[] {
  try {
    return check().slice(0, MAX_PROBLEMS).map(problemOf)
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error
    return [{ loc: [], msg: error.message, type: 'too_complex' }]
  }
}

function problemOf({ instancePath, keyword, params, message = '' }: ErrorObject): Problem {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
  const name: string | undefined = params.missingProperty ?? params.additionalProperty
  return {
    loc: [...path, ...(name === undefined ? [] : [name])],
    msg: keyword === 'required' ? 'Field required' : message,
    type: keyword === 'required' ? 'missing' : keyword,
  }
}
