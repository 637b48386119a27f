import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { type Problem, unprocessable } from '@windlass/runtime/faults'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import { TooComplex, type Validator, validatorOf } from '../domain/validator.ts'

const MAX_SCHEMAS = 500
const MAX_PROBLEMS = 20

/**
 * Validates inputs against the schemas that workflows declare; a schema is compiled once while it
 * is in use.
 */
export class InputSchemaCache {
  readonly #validators = new LRUCache<string, Validator>({ max: MAX_SCHEMAS })

  /** Throws `unprocessable` with the problems found. Parses a copy of the input; the input stays text. */
  check({ id, input_schema_json }: Workflow, input_json: string): void {
    if (input_schema_json === '') return
    const validate = this.#validatorOf(id, input_schema_json)
    const problems = problemsIn(() => validate(JSON.parse(input_json), input_json.length))
    if (problems.length > 0) throw unprocessable(...(problems as [Problem]))
  }

  #validatorOf(id: string, schema: string): Validator {
    const known = this.#validators.get(id)
    if (known) return known
    const validator = validatorOf(JSON.parse(schema))
    this.#validators.set(id, validator)
    return validator
  }
}

function problemsIn(check: () => readonly ErrorObject[]): Problem[] {
  try {
    return check().slice(0, MAX_PROBLEMS).map(problemOf)
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error
    return [{ loc: ['body'], msg: error.message, type: 'too_complex' }]
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
    loc: ['body', ...path, ...(name === undefined ? [] : [name])],
    msg: keyword === 'required' ? 'Field required' : message,
    type: keyword === 'required' ? 'missing' : keyword,
  }
}
