import type { Schema } from '../schema/known-types.ts'
import {
  itemAt,
  listOf,
  numberAt,
  objectOf,
  otherMembers,
  resolveRef,
  type Subschema,
} from './subschemas.ts'

const MAX_SAMPLES = 300
const MAX_OF_ONE = 24
const MAX_DEPTH = 6
const MAX_STEPS = 3_000
const MAX_TEXT_CHARS = 2_000
const MAX_ITEMS = 50
const NUMBER_RULES = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']
const SIZE_RULES = ['minLength', 'maxLength', 'minItems', 'maxItems']

/**
 * Returns values near the edges of two schemas, in the shape of the first. Many are invalid for
 * both.
 */
export function makeSamples(older: Schema, newer: Schema): unknown[] {
  return new SampleMaker(older, [older, newer]).of(older, 0).slice(0, MAX_SAMPLES)
}

class SampleMaker {
  readonly #root: Schema
  /** Candidates for any place: constants of both schemas, numbers and strings around their bounds. */
  readonly #pool: unknown[]
  readonly #names: string[]
  readonly #sizes: number[]
  #steps = MAX_STEPS

  constructor(root: Schema, schemas: Schema[]) {
    this.#root = root
    const all = schemas.flatMap(allSubschemas)
    const numbers = all.flatMap((part) => NUMBER_RULES.flatMap((rule) => part[rule] ?? []))
    const around = (numbers as number[]).flatMap((n) => [n, n - 1, n + 1, n + 0.5])
    const sizes = all.flatMap((part) => SIZE_RULES.flatMap((rule) => part[rule] ?? [])) as number[]
    this.#sizes = [0, 1, ...sizes.flatMap((n) => [n - 1, n, n + 1])].filter((n) => n >= 0)
    const texts = this.#sizes.filter((n) => n <= MAX_TEXT_CHARS).map((n) => 'x'.repeat(n))
    const constants = all.flatMap((part) =>
      [...listOf<unknown>(part.enum), part.const ?? []].flat(),
    )
    const plain = [null, true, false, 0, 1, -1, 0.5, '', 'x', 'another', [], {}]
    this.#pool = distinct([...plain, ...constants, ...around, ...texts])
    this.#names = distinct(all.flatMap((part) => Object.keys(objectOf(part.properties))))
  }

  of(part: Subschema, depth: number): unknown[] {
    const schema = resolveRef(part, this.#root)
    if (!schema || depth > MAX_DEPTH || --this.#steps < 0) return []
    if (schema === true) return this.#pool
    if (Array.isArray(schema.anyOf)) {
      return interleave(listOf(schema.anyOf).map((one) => this.of(one, depth + 1)))
    }
    if (Array.isArray(schema.enum)) return schema.enum
    if ('const' in schema) return [schema.const]
    if (schema.type === 'array') return this.#lists(schema, depth)
    if (schema.type === 'object') return this.#objects(schema, depth)
    return this.#pool.filter((value) => schema.type === undefined || isOf(schema.type, value))
  }

  #lists(schema: Schema, depth: number): unknown[][] {
    const least = Math.max(numberAt(schema, 'minItems', 0), listOf(schema.prefixItems).length)
    if (least > MAX_ITEMS) return []
    const items = (i: number) => this.of(itemAt(schema, i), depth + 1)
    const base = Array.from({ length: least }, (_, i) => items(i)[0])
    const most = numberAt(schema, 'maxItems', MAX_ITEMS)
    const wanted = distinct([...this.#sizes, least, most]).filter((n) => n <= MAX_ITEMS)
    const sized = wanted.map((n) => Array.from({ length: n }, (_, i) => items(i)[0]))
    const twins = most >= 2 ? [[items(0)[0], items(1)[0]]] : []
    const varied = Array.from({ length: Math.max(1, least) }, (_, i) =>
      items(i).map((item) => base.toSpliced(i, 1, item)),
    )
    const lists = [base, ...twins, ...sized, ...(interleave(varied) as unknown[][])]
    return lists.filter((list) => !list.includes(undefined))
  }

  #objects(schema: Schema, depth: number): unknown[] {
    const properties = objectOf(schema.properties)
    const required = listOf<string>(schema.required)
    const valuesOf = (name: string) =>
      this.of(
        Object.hasOwn(properties, name) ? (properties[name] as Subschema) : otherMembers(schema),
        depth + 1,
      )
    const members = required.map((name) => [name, valuesOf(name)[0]])
    const base = Object.fromEntries(members.filter(([, value]) => value !== undefined))
    const names = distinct([...Object.keys(properties), ...this.#names, 'another'])
    return [
      base,
      ...interleave(
        names.map((name) => valuesOf(name).map((value) => ({ ...base, [name]: value }))),
      ),
    ]
  }
}

const isOf = (type: unknown, value: unknown): boolean =>
  value === null ? type === 'null' : typeof value === (type === 'integer' ? 'number' : type)

const distinct = <T>(values: T[]): T[] => [...new Set(values)]

/** Takes some items of each list, the first items of all lists first. */
function interleave(lists: unknown[][]): unknown[] {
  const found: unknown[] = []
  for (let i = 0; i < MAX_OF_ONE && found.length < MAX_SAMPLES; i++) {
    for (const list of lists) if (i < list.length) found.push(list[i])
  }
  return found.slice(0, MAX_SAMPLES)
}

/** Returns a schema and all its subschemas. */
function allSubschemas(schema: Schema): Schema[] {
  const found: Schema[] = []
  const waiting: unknown[] = [schema]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    if (!Array.isArray(next)) found.push(next as Schema)
    waiting.push(...Object.values(next))
  }
  return found
}
