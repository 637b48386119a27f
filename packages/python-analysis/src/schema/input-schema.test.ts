import { expect, test } from 'vitest'
import { analyseSource } from '../../test/analysis-fixture.ts'

const HEAD = `import typing as t
import uuid
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum, auto
from pathlib import Path
from typing import Annotated, Any, Dict, List, Literal, NewType, Optional, Tuple, Union
import pydantic
from pydantic import Field, PositiveInt, conint, conlist, constr
from windlass import ExecutionContext, workflow
`

/** The schema of a workflow's input of this type, and the notes on it. */
function schemaOf(type: string, before = '') {
  const source = `${HEAD}${before}\n@workflow\nasync def job(ctx: ExecutionContext[${type}]):\n    pass\n`
  const [workflow] = analyseSource(source)
  const text = workflow?.input_schema_json
  return {
    schema: text ? JSON.parse(text) : undefined,
    notes: JSON.parse(workflow?.metadata_json ?? '').schema_notes,
  }
}

const string = { type: 'string' }
const integer = { type: 'integer' }
const nothing = { type: 'null' }

test.each([
  ['int', integer],
  ['float', { type: 'number' }],
  ['str', string],
  ['bool', { type: 'boolean' }],
  ['None', nothing],
  ['list', { type: 'array', items: {} }],
  ['list[int]', { type: 'array', items: integer }],
  ['List[str]', { type: 'array', items: string }],
  ['Sequence[int]', { type: 'array', items: integer }],
  ['list[int] | None', { anyOf: [{ type: 'array', items: integer }, nothing] }],
  ['set[int]', { type: 'array', items: integer, uniqueItems: true }],
  ['frozenset[str]', { type: 'array', items: string, uniqueItems: true }],
  ['tuple[int, str]', { type: 'array', prefixItems: [integer, string], minItems: 2, maxItems: 2 }],
  ['Tuple[int, ...]', { type: 'array', items: integer }],
  ['tuple[()]', { type: 'array', minItems: 0, maxItems: 0 }],
  ['dict', { type: 'object', additionalProperties: true }],
  ['dict[str, int]', { type: 'object', additionalProperties: integer }],
  ['Mapping[str, Any]', { type: 'object', additionalProperties: {} }],
  [
    't.Dict[Literal["a"], int]',
    {
      type: 'object',
      propertyNames: { const: 'a', type: 'string' },
      additionalProperties: integer,
    },
  ],
  ['Optional[int]', { anyOf: [integer, nothing] }],
  ['int | None', { anyOf: [integer, nothing] }],
  ['Union[int, str, None]', { anyOf: [integer, string, nothing] }],
  ['int | str | int', { anyOf: [integer, string] }],
  ['Optional[Union[int, str]]', { anyOf: [integer, string, nothing] }],
  ['Literal["x"]', { const: 'x', type: 'string' }],
  ['Literal["x", "y"]', { enum: ['x', 'y'], type: 'string' }],
  ['Literal[1, "a", None, True]', { enum: [1, 'a', null, true] }],
  ['datetime', { type: 'string', format: 'date-time' }],
  ['date', { type: 'string', format: 'date' }],
  ['timedelta', { type: 'string', format: 'duration' }],
  ['uuid.UUID', { type: 'string', format: 'uuid' }],
  ['Path', { type: 'string', format: 'path' }],
  ['bytes', { type: 'string', format: 'binary' }],
  ['pydantic.AnyUrl', { type: 'string', format: 'uri', minLength: 1 }],
  ['PositiveInt', { type: 'integer', exclusiveMinimum: 0 }],
  ['conint(ge=1, le=9)', { type: 'integer', minimum: 1, maximum: 9 }],
  ['constr(max_length=3)', { type: 'string', maxLength: 3 }],
  ['conlist(int, min_length=1)', { type: 'array', items: integer, minItems: 1 }],
  [
    'Annotated[int, Field(gt=0, lt=10)]',
    { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 },
  ],
  ['Annotated[list[int], Field(max_length=2)]', { type: 'array', items: integer, maxItems: 2 }],
  [
    'Annotated[str, Field(pattern=r"^\\d+$", description="D")]',
    { type: 'string', pattern: '^\\d+$', description: 'D' },
  ],
  ['Annotated[int | None, Field(ge=0)]', { anyOf: [{ type: 'integer', minimum: 0 }, nothing] }],
  ['Annotated[int, "a remark"]', integer],
  ['"int"', integer],
  ['list["int | None"]', { type: 'array', items: { anyOf: [integer, nothing] } }],
])('type %s: converted without notes', (type, schema) => {
  expect(schemaOf(type)).toEqual({ schema, notes: undefined })
})

test('Decimal: number or numeric string', () => {
  const { schema } = schemaOf('Decimal')
  expect(schema.anyOf).toEqual([
    { type: 'number' },
    { type: 'string', pattern: expect.any(String) },
  ])
  const pattern = new RegExp(schema.anyOf[1].pattern, 'u')
  for (const text of ['1', '-1.50', '+1', '1.', '.5', '1e5', '1E-7', ' 1 ', '1_000.000_1'])
    expect(text).toMatch(pattern)
  for (const text of ['', '-', '.', '_1', '1e', '0x1', 'NaN', 'Infinity', '1 2', '1,5'])
    expect(text).not.toMatch(pattern)
})

test.each([
  ['Any', 'Any'],
  ['no argument', ''],
])('%s: no input schema', (_, type) => {
  const annotation = type ? `ExecutionContext[${type}]` : 'ExecutionContext'
  const source = `${HEAD}@workflow\nasync def job(ctx: ${annotation}): pass\n`
  const [workflow] = analyseSource(source)
  expect(workflow?.input_schema_json).toBe('')
})

test.each([
  ['numpy.ndarray', 'input: the type numpy.ndarray is not known', 'import numpy'],
  [
    'Callable[[int], str]',
    'input: the type Callable[[int], str] is not known',
    'from typing import Callable',
  ],
  ['Order', 'input: the type Order is not known'],
  ['list[Order]', 'input: the type Order is not known'],
])('%s: unknown type is noted', (type, note, definitions = 'from shop import Order') => {
  expect(schemaOf(type, definitions).notes).toEqual([note])
})

test('partly unknown type: known parts are kept', () => {
  expect(schemaOf('dict[str, Strange | None]', 'from shop import Strange').schema).toEqual({
    type: 'object',
    additionalProperties: { anyOf: [{}, nothing] },
  })
})

test.each([
  ['an alias', 'UserId = int', 'UserId', integer],
  ['an alias with a type', 'UserId: t.TypeAlias = "int"', 'UserId', integer],
  ['a type statement', 'type Ids = list[int]', 'Ids', { type: 'array', items: integer }],
  ['a NewType', 'UserId = NewType("UserId", int)', 'UserId', integer],
  ['an alias of a union', 'Id = int | str', 'Id | None', { anyOf: [integer, string, nothing] }],
])('%s: resolved to its type', (_, before, type, schema) => {
  expect(schemaOf(type, before)).toEqual({ schema, notes: undefined })
})

test('recursive alias: becomes a definition', () => {
  const { schema } = schemaOf('Json', 'Json = Union[None, list["Json"], dict[str, "Json"]]')
  const ref = { $ref: '#/$defs/Json' }
  expect(schema).toEqual({
    $defs: {
      Json: {
        anyOf: [
          nothing,
          { type: 'array', items: ref },
          { type: 'object', additionalProperties: ref },
        ],
      },
    },
    ...ref,
  })
})

test.each([
  [
    'text',
    'class Color(Enum):\n  """Hues."""\n  RED = "r"\n  BLUE = "b"\n  def f(self): pass',
    { description: 'Hues.', enum: ['r', 'b'], title: 'Color', type: 'string' },
  ],
  [
    'numbers',
    'class Color(IntEnum):\n  A = 1\n  B = A + 1',
    { enum: [1, 2], title: 'Color', type: 'integer' },
  ],
  [
    'automatic numbers',
    'class Color(Enum):\n  A = auto()\n  B = 7\n  C = auto()',
    { enum: [1, 7, 8], title: 'Color', type: 'integer' },
  ],
  [
    'automatic text',
    'class Color(StrEnum):\n  RED = auto()',
    { enum: ['red'], title: 'Color', type: 'string' },
  ],
  [
    'a mixed-in type',
    'class Color(str, Enum):\n  RED = "r"',
    { enum: ['r'], title: 'Color', type: 'string' },
  ],
])('enumeration of %s: lists its values', (_, before, schema) => {
  expect(schemaOf('Color', before)).toEqual({ schema, notes: undefined })
})

test('Literal of an enumeration member: its value', () => {
  const before = 'class Color(Enum):\n  RED = "r"\n  BLUE = "b"'
  expect(schemaOf('Literal[Color.RED]', before).schema).toEqual({ const: 'r', type: 'string' })
})

test('types that double one another: refused', () => {
  const aliases = Array.from({ length: 25 }, (_, i) => `A${i + 1} = tuple[A${i}, A${i}]`)
  expect(() => schemaOf('A20', `A0 = int\n${aliases.join('\n')}`)).toThrow('more than can be')
})
