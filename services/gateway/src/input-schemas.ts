import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { type Problem, unprocessable } from '@windlass/runtime/faults'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'

const MAX_SCHEMAS = 500
const MAX_PROBLEMS = 20

/** Checks inputs against what workflows declare. Each schema is compiled once, and again when it was long unused. */
export class InputSchemas {
  readonly #compiled = new Map<string, ValidateFunction>()

  /** Parses a copy of the input; the input itself stays text. */
  check({ id, input_schema_json }: Workflow, input_json: string): void {
    if (input_schema_json === '') return
    const validate = this.#compiled.get(id) ?? this.#compile(id, input_schema_json)
    if (validate(JSON.parse(input_json))) return
    const problems = (validate.errors ?? []).slice(0, MAX_PROBLEMS).map(problemOf)
    throw unprocessable(...(problems as [Problem]))
  }

  #compile(id: string, schema: string): ValidateFunction {
    const validate = compiler().compile(JSON.parse(schema))
    if (this.#compiled.size >= MAX_SCHEMAS)
      this.#compiled.delete(this.#compiled.keys().next().value as string)
    this.#compiled.set(id, validate)
    return validate
  }
}

/** A compiler remembers every schema it has seen, so each schema gets its own. */
function compiler(): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: false,
    validateFormats: false,
    ownProperties: true,
  })
  // Patterns are Python's, which are not ours, and one can be made to take for ever: the worker checks them.
  ajv.removeKeyword('pattern')
  ajv.removeKeyword('patternProperties')
  return ajv
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
