import type { Node } from 'web-tree-sitter'
import { argumentsOf } from '../python/arguments.ts'
import { constantOf } from '../python/constants.ts'
import { calleeOf, childOf, type Expression, followNames, unwrap } from '../python/expression.ts'
import { sdkPaths } from '../sdk-names.ts'
import { type Option, optionFault } from './option.ts'

/** Routing policy as data, in the form that the matcher reads. */
export interface Routing {
  terms: Record<string, unknown>[]
}

interface Comparison {
  selector: string
  op: string
  value: unknown
}

const RESOURCES = new Set(
  'cpu_total cpu_available memory_total memory_available disk_total disk_free'.split(' '),
)
const KEY = /^[^\p{C}]{1,255}$/u
const MAX_TERMS = 32
/** Comparison operators with their operands exchanged. */
const FLIPPED: Record<string, string> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
}

/** Reads `routing=`; undefined for None. */
export function readRouting(option: Option, sdkModules: string[]): Routing | undefined {
  if (constantOf(option.value) === null) return undefined
  return new PolicyReader(option, sdkModules).policy(option.value)
}

class PolicyReader {
  readonly #option: Option
  readonly #sdkModules: string[]

  constructor(option: Option, sdkModules: string[]) {
    this.#option = option
    this.#sdkModules = sdkModules
  }

  policy(value: Expression): Routing {
    const { name, positional, keywords } = this.#call(value)
    if (name !== 'score' || positional.length === 0 || keywords.size > 0) {
      throw this.#refuse('it must be score(…) of terms')
    }
    if (positional.length > MAX_TERMS) throw this.#refuse(`at most ${MAX_TERMS} terms`)
    return { terms: positional.map((term) => this.#term(term)) }
  }

  #term(value: Expression): Record<string, unknown> {
    const { name, positional, keywords } = this.#call(value)
    const [about, ...rest] = name === 'sticky' ? [undefined, ...positional] : positional
    const weight = this.#weight(keywords.get('weight') ?? rest[0])
    const tooMany = rest.length > 1 || [...keywords.keys()].some((key) => key !== 'weight')
    if (name === 'sticky' && !tooMany) return { kind: name, weight }
    if (!about || tooMany) throw this.#refuse('a term takes what it judges by, and a weight')
    if (name === 'prefer') return { kind: name, ...this.#comparison(about), weight }
    if (name === 'least' || name === 'most') {
      return { kind: name, selector: this.#selector(about), weight }
    }
    throw this.#refuse('terms are prefer, least, most and sticky')
  }

  #weight(value: Expression | undefined): number {
    const weight = value ? constantOf(value) : 1
    if (typeof weight !== 'number' || weight <= 0) throw this.#refuse('a weight is above 0')
    return weight
  }

  #comparison(value: Expression): Comparison {
    const here = followNames(value)
    const [left, right, ...others] = here.node.namedChildren
    const op = here.node.childrenForFieldName('operators')[0]?.text ?? ''
    if (here.node.type !== 'comparison_operator' || !left || !right || others.length > 0) {
      throw this.#refuse('prefer takes one comparison')
    }
    const flipped = FLIPPED[op]
    if (!flipped) throw this.#refuse(`'${op}' is not a comparison of workers`)
    const side = (node: Node) => childOf(here, node)
    return this.#isSelector(side(left))
      ? { selector: this.#selector(side(left)), op, value: this.#compared(side(right)) }
      : { selector: this.#selector(side(right)), op: flipped, value: this.#compared(side(left)) }
  }

  #compared(value: Expression): unknown {
    const known = constantOf(value)
    if (typeof known === 'string' || typeof known === 'number' || typeof known === 'boolean') {
      return known
    }
    const { name, positional } = this.#call(value)
    const path = positional.length === 1 ? constantOf(positional[0] as Expression) : undefined
    if (name !== 'input' || typeof path !== 'string' || path === '') {
      throw this.#refuse('values are constants or input("path")')
    }
    return { $input: path }
  }

  #isSelector(value: Expression): boolean {
    return ['label', 'metric', 'resource', 'load'].includes(this.#name(value) ?? '')
  }

  #selector(value: Expression): string {
    const name = this.#name(value)
    if (name === 'load') return name
    const { positional, keywords } = this.#call(value)
    const key = positional.length === 1 ? constantOf(positional[0] as Expression) : undefined
    if (
      !this.#isSelector(value) ||
      typeof key !== 'string' ||
      !KEY.test(key) ||
      keywords.size > 0
    ) {
      throw this.#refuse('workers are judged by label, metric, resource and load')
    }
    if (name === 'resource' && !RESOURCES.has(key)) {
      throw this.#refuse(`'${key.slice(0, 60)}' is not a resource of a worker`)
    }
    return `${name}:${key}`
  }

  /** Returns the SDK name of a callee or, as with `load`, of a bare name. */
  #name(value: Expression): string | undefined {
    const here = followNames(value)
    const [path] = sdkPaths(calleeOf(here) ?? here, this.#sdkModules)
    return path?.slice(path.lastIndexOf('.') + 1)
  }

  #call(value: Expression) {
    const here = followNames(unwrap(value))
    const given = here.node.type === 'call' ? argumentsOf(here) : undefined
    const name = this.#name(here)
    if (!given || !name || given.isIncomplete) throw this.#refuse('it must be written out')
    return { name, ...given }
  }

  #refuse = (reason: string) =>
    optionFault(this.#option, `routing policy must be statically declarable (${reason})`)
}
