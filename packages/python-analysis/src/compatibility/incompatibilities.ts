import type { Schema } from '../schema/known-types.ts'
import { findBoundProblem, findTextProblem } from './bounds.ts'
import {
  itemAt,
  listOf,
  numberAt,
  objectOf,
  otherMembers,
  resolveRef,
  rulesOf,
  type Subschema,
  valuesOf,
} from './subschemas.ts'
import { hasUnguardedRecursion } from './unguarded-recursion.ts'
import { isValid } from './validator.ts'

/** Place where the newer schema may reject a value that the older one accepts, with the reason. */
export interface Problem {
  /** Members by name; `[]` for list items, `*` for unnamed members. */
  loc: (string | number)[]
  msg: string
}

type Loc = Problem['loc']

/** Keywords that the proof understands. Any other keyword makes it undecided. */
const KNOWN_RULES = new Set(
  (
    'type enum const anyOf items prefixItems minItems maxItems uniqueItems properties required ' +
    'additionalProperties propertyNames minProperties maxProperties minLength maxLength pattern ' +
    'format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'
  ).split(' '),
)
const MAX_STEPS = 20_000
/** Limit on nested pairs: mutually recursive definitions can lead through every pair of them. */
const MAX_DEPTH = 200
const MAX_PROBLEMS = 20
const UNDECIDED = 'too much to compare'

/**
 * Returns the places that could not be proved; empty means that every value valid for the older
 * schema is valid for the newer one.
 */
export const findIncompatibilities = (older: Schema, newer: Schema): Problem[] =>
  new Proof(older, newer).run().slice(0, MAX_PROBLEMS)

/**
 * Structural proof of schema containment by coinduction: a pair of subschemas that is met again
 * while its own proof is in progress is assumed to hold. If the proof of a pair fails, every
 * assumption made since is retracted.
 */
class Proof {
  readonly #older: Schema
  readonly #newer: Schema
  readonly #ids = new Map<Subschema, number>()
  /** Pairs that are proved or assumed, in the order in which they were assumed. */
  readonly #assumed: string[] = []
  readonly #assumedKeys = new Set<string>()
  #steps = MAX_STEPS
  #depth = 0

  constructor(older: Schema, newer: Schema) {
    this.#older = older
    this.#newer = newer
  }

  run(): Problem[] {
    if (hasUnguardedRecursion(this.#newer)) return [{ loc: [], msg: 'it refers only to itself' }]
    const problems = this.#compare(this.#older, this.#newer, [])
    return this.#steps < 0 ? [{ loc: [], msg: UNDECIDED }] : problems
  }

  #compare(older: Subschema, newer: Subschema, loc: Loc): Problem[] {
    if (--this.#steps < 0) return [{ loc, msg: UNDECIDED }]
    const [was, is] = [resolveRef(older, this.#older), resolveRef(newer, this.#newer)]
    if (is === true || was === false) return []
    if (is === false) return [{ loc, msg: 'it is no longer accepted' }]
    if (is === undefined || was === undefined) return [{ loc, msg: 'it refers to nothing' }]
    const key = `${this.#idOf(was)}:${this.#idOf(is)}`
    if (this.#assumedKeys.has(key)) return []
    const mark = this.#assumed.length
    this.#assume(key)
    const problems = this.#proveNested(was === true ? {} : was, is, loc)
    if (problems.length > 0) this.#retract(mark)
    return problems
  }

  #proveNested(was: Schema, is: Schema, loc: Loc): Problem[] {
    if (this.#depth === MAX_DEPTH) this.#steps = -1
    if (this.#steps < 0) return [{ loc, msg: UNDECIDED }]
    this.#depth++
    const problems = this.#prove(was, is, loc)
    this.#depth--
    return problems
  }

  #assume(key: string): void {
    this.#assumed.push(key)
    this.#assumedKeys.add(key)
  }

  #retract(mark: number): void {
    for (const key of this.#assumed.splice(mark)) this.#assumedKeys.delete(key)
  }

  #idOf(part: Subschema): number {
    const known = this.#ids.get(part)
    if (known !== undefined) return known
    this.#ids.set(part, this.#ids.size)
    return this.#ids.size - 1
  }

  #prove(was: Schema, is: Schema, loc: Loc): Problem[] {
    const rules = rulesOf(is)
    if (rules.length === 0) return []
    const unknown = rules.find((rule) => !KNOWN_RULES.has(rule))
    if (unknown) return [{ loc, msg: `'${unknown}' is not compared` }]
    if (Array.isArray(was.anyOf)) {
      return listOf(was.anyOf).flatMap((one) => this.#compare(one, is, loc))
    }
    const values = valuesOf(was)
    if (values) return this.#proveValues(values, is, loc)
    if (Array.isArray(is.anyOf)) return this.#proveAlternatives(was, is, loc)
    if (valuesOf(is)) return [{ loc, msg: `it must be ${shown(valuesOf(is) ?? [])}` }]
    return this.#proveTyped(was, is, loc)
  }

  #proveValues(values: unknown[], is: Schema, loc: Loc): Problem[] {
    const refused = values.filter((value) => !isValid(is, value, this.#newer))
    if (refused.length > 0) return [{ loc, msg: `${shown(refused)} is refused` }]
    // Formats such as dates are checked by the workflow only: nothing is known about them here.
    const formats = [is, ...listOf<Schema>(is.anyOf)].map((one) => resolveRef(one, this.#newer))
    const hasFormat = formats.some((one) => typeof one === 'object' && one.format !== undefined)
    return hasFormat ? [{ loc, msg: 'a format is not compared with values' }] : []
  }

  #proveAlternatives(was: Schema, is: Schema, loc: Loc): Problem[] {
    if (rulesOf(is).length > 1) return [{ loc, msg: "rules next to 'anyOf' are not compared" }]
    const all = listOf(is.anyOf).map((one) => this.#compare(was, one, loc))
    if (all.some((problems) => problems.length === 0)) return []
    return [{ loc, msg: 'none of the alternatives takes all of it' }]
  }

  #proveTyped(was: Schema, is: Schema, loc: Loc): Problem[] {
    if (is.type === undefined) return [{ loc, msg: 'rules without a type are not compared' }]
    const fits = was.type === is.type || (was.type === 'integer' && is.type === 'number')
    if (!fits) {
      const before = was.type === undefined ? 'anything' : `${was.type}`
      return [{ loc, msg: `it was ${before} and must be ${is.type}` }]
    }
    switch (is.type) {
      case 'string':
        return problemAt(loc, findTextProblem(was, is))
      case 'array':
        return this.#proveLists(was, is, loc)
      case 'object':
        return this.#proveObjects(was, is, loc)
      default:
        return problemAt(loc, findBoundProblem(was, is))
    }
  }

  #proveLists(was: Schema, is: Schema, loc: Loc): Problem[] {
    const most = numberAt(was, 'maxItems', Number.POSITIVE_INFINITY)
    const problems = problemAt(loc, findSizeProblem(was, is, 'Items'))
    if (is.uniqueItems === true && was.uniqueItems !== true && most > 1) {
      problems.push({ loc, msg: 'its items must be distinct' })
    }
    const named = Math.max(listOf(was.prefixItems).length, listOf(is.prefixItems).length)
    for (let i = 0; i < Math.min(named, most); i++) {
      problems.push(...this.#compare(itemAt(was, i), itemAt(is, i), [...loc, i]))
    }
    if (most <= named) return problems
    return [...problems, ...this.#compare(itemAt(was, named), itemAt(is, named), [...loc, '[]'])]
  }

  #proveObjects(was: Schema, is: Schema, loc: Loc): Problem[] {
    const [before, now] = [objectOf(was.properties), objectOf(is.properties)]
    const open = otherMembers(was)
    const had = new Set(listOf<string>(was.required))
    const missing = listOf<string>(is.required).filter((name) => !had.has(name))
    const member = (of: Record<string, Subschema>, others: Subschema, name: string) =>
      Object.hasOwn(of, name) ? (of[name] as Subschema) : others
    const names = new Set([...Object.keys(before), ...Object.keys(now)])
    return [
      ...problemAt(loc, findSizeProblem(was, is, 'Properties')),
      ...missing.map((name) => ({ loc: [...loc, name], msg: 'it is required' })),
      ...this.#proveNames(was, is, loc),
      ...[...names].flatMap((name) =>
        this.#compare(member(before, open, name), member(now, otherMembers(is), name), [
          ...loc,
          name,
        ]),
      ),
      ...this.#compare(open, otherMembers(is), [...loc, '*']),
    ]
  }

  #proveNames(was: Schema, is: Schema, loc: Loc): Problem[] {
    if (is.propertyNames === undefined) return []
    const before = (was.propertyNames as Subschema | undefined) ?? { type: 'string' }
    return this.#compare(before, is.propertyNames as Subschema, [...loc, '*'])
  }
}

const problemAt = (loc: Loc, msg: string | undefined): Problem[] => (msg ? [{ loc, msg }] : [])

function findSizeProblem(
  was: Schema,
  is: Schema,
  what: 'Items' | 'Properties',
): string | undefined {
  const least = numberAt(is, `min${what}`, 0)
  const most = numberAt(is, `max${what}`, Number.POSITIVE_INFINITY)
  const unit = what === 'Items' ? 'items' : 'members'
  if (numberAt(was, `min${what}`, 0) < least) return `it must have at least ${least} ${unit}`
  if (numberAt(was, `max${what}`, Number.POSITIVE_INFINITY) > most) {
    return `it must have at most ${most} ${unit}`
  }
  return undefined
}

const MAX_SHOWN_CHARS = 120

function shown(values: unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(', ')
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text
}
