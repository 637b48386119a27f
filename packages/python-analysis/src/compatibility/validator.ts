import { linearPattern } from '@windlass/domain/pattern'
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

const MAX_STEPS = 5_000
const MAX_DEPTH = 200
const MULTIPLE_TOLERANCE = 1e-9

/** True if a value is valid for a schema; undefined if deciding exceeds the step limit. */
export function isValid(part: Subschema, value: unknown, root: Schema): boolean | undefined {
  const steps = { left: MAX_STEPS, deep: 0 }
  const verdict = matches(part, value, { root, steps })
  return steps.left < 0 ? undefined : verdict
}

interface Run {
  root: Schema
  steps: { left: number; deep: number }
}

function matches(part: Subschema, value: unknown, place: Run): boolean {
  const { steps } = place
  if (steps.deep > MAX_DEPTH) steps.left = 0
  if (--steps.left < 0) return false
  steps.deep++
  const verdict = matchesSchema(part, value, place)
  steps.deep--
  return verdict
}

function matchesSchema(part: Subschema, value: unknown, place: Run): boolean {
  const schema = resolveRef(part, place.root)
  if (schema === undefined) return false
  if (typeof schema === 'boolean') return schema
  return (
    isOfType(schema.type, value) &&
    (!('const' in schema) || isEqual(schema.const, value)) &&
    (!Array.isArray(schema.enum) || isAmong(schema.enum, value)) &&
    (!Array.isArray(schema.anyOf) ||
      listOf(schema.anyOf).some((one) => matches(one, value, place))) &&
    isWithinBounds(schema, value, place)
  )
}

function isWithinBounds(schema: Schema, value: unknown, place: Run): boolean {
  if (typeof value === 'number') return isWithin(schema, value)
  if (typeof value === 'string') return isText(schema, value)
  if (Array.isArray(value)) return isList(schema, value, place)
  return typeof value !== 'object' || value === null || isObject(schema, value, place)
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case undefined:
      return true
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    default:
      return typeof value === type
  }
}

function isWithin(schema: Schema, value: number): boolean {
  const step = numberAt(schema, 'multipleOf', undefined)
  return (
    value >= numberAt(schema, 'minimum', Number.NEGATIVE_INFINITY) &&
    value <= numberAt(schema, 'maximum', Number.POSITIVE_INFINITY) &&
    value > numberAt(schema, 'exclusiveMinimum', Number.NEGATIVE_INFINITY) &&
    value < numberAt(schema, 'exclusiveMaximum', Number.POSITIVE_INFINITY) &&
    (step === undefined || isMultiple(value, step))
  )
}

const isMultiple = (value: number, step: number): boolean =>
  Math.abs(value / step - Math.round(value / step)) <= MULTIPLE_TOLERANCE

function isText(schema: Schema, value: string): boolean {
  const pattern = typeof schema.pattern === 'string' ? linearPattern(schema.pattern) : undefined
  return isWithinSize(schema, [...value].length, 'Length') && (!pattern || pattern.test(value))
}

const isWithinSize = (
  schema: Schema,
  size: number,
  what: 'Length' | 'Items' | 'Properties',
): boolean =>
  size >= numberAt(schema, `min${what}`, 0) &&
  size <= numberAt(schema, `max${what}`, Number.POSITIVE_INFINITY)

function isList(schema: Schema, value: unknown[], place: Run): boolean {
  const distinct = () => new Set(value.map((item) => keyOf(item))).size === value.length
  return (
    isWithinSize(schema, value.length, 'Items') &&
    (schema.uniqueItems !== true || distinct()) &&
    value.every((item, i) => matches(itemAt(schema, i), item, place))
  )
}

function isObject(schema: Schema, value: object, place: Run): boolean {
  const members = Object.entries(value)
  const properties = objectOf(schema.properties)
  const memberOf = (name: string) =>
    Object.hasOwn(properties, name) ? (properties[name] as Subschema) : otherMembers(schema)
  return (
    isWithinSize(schema, members.length, 'Properties') &&
    listOf<string>(schema.required).every((name) => Object.hasOwn(value, name)) &&
    members.every(
      ([name, item]) =>
        matches((schema.propertyNames as Subschema | undefined) ?? true, name, place) &&
        matches(memberOf(name), item, place),
    )
  )
}

const enumerations = new WeakMap<unknown[], Set<unknown>>()

/** Enumerations hold scalars, and can be very long. */
function isAmong(values: unknown[], value: unknown): boolean {
  const known = enumerations.get(values) ?? new Set(values)
  enumerations.set(values, known)
  return known.has(value)
}

const isEqual = (a: unknown, b: unknown): boolean => a === b || keyOf(a) === keyOf(b)

/** Canonical key: equal for equal JSON values, in any member order. */
function keyOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(keyOf).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${keyOf(item)}`).join()}}`
}
