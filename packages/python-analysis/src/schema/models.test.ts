import { expect, test } from 'vitest'
import { analyseSource } from '../../test/analysis-fixture.ts'

const HEAD = `from __future__ import annotations
import dataclasses
from dataclasses import dataclass, field, KW_ONLY
from enum import Enum
from typing import Annotated, ClassVar, Final, Generic, NotRequired, Optional, Required, TypedDict, TypeVar
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel
from pydantic.alias_generators import to_camel
from windlass import ExecutionContext, workflow
T = TypeVar("T")
`

/** The schema of a workflow's input of the type X, and the notes on it. */
function schemaOfX(classes: string, type = 'X') {
  const source = `${HEAD}${classes}\n@workflow\nasync def job(ctx: ExecutionContext[${type}]):\n    pass\n`
  const [workflow] = analyseSource(source)
  const text = workflow?.input_schema_json
  return {
    schema: text ? JSON.parse(text) : undefined,
    notes: JSON.parse(workflow?.metadata_json ?? '').schema_notes,
  }
}

const string = (title: string) => ({ type: 'string', title })
const integer = (title: string) => ({ type: 'integer', title })

test('pydantic model: defaults, bounds, aliases and description are converted', () => {
  const { schema, notes } = schemaOfX(`
class X(BaseModel):
    """An order.

    Of many lines.
    """
    model_config = ConfigDict(extra="forbid")
    KIND: ClassVar[str] = "x"
    _hidden: int = 0
    item_name: str
    count: int = Field(1, ge=1, le=99, description="How many")
    tags: list[str] = []
    note: Optional[str] = None
    made: str = Field(default_factory=str)
    needed: int = Field(...)
    size: int = Field(alias="theSize")
    price: Annotated[float, Field(gt=0)] = 1.5
    other: int = int()
    @property
    def twice(self): return 2
`)
  expect(notes).toBeUndefined()
  expect(schema).toEqual({
    title: 'X',
    description: 'An order.\n\nOf many lines.',
    type: 'object',
    properties: {
      item_name: string('Item Name'),
      count: { ...integer('Count'), minimum: 1, maximum: 99, default: 1, description: 'How many' },
      tags: { type: 'array', items: { type: 'string' }, default: [], title: 'Tags' },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null, title: 'Note' },
      made: string('Made'),
      needed: integer('Needed'),
      theSize: integer('Thesize'),
      price: { type: 'number', exclusiveMinimum: 0, default: 1.5, title: 'Price' },
      other: integer('Other'),
    },
    required: ['item_name', 'needed', 'theSize'],
    additionalProperties: false,
  })
})

test('nested models in any order: shared definitions', () => {
  const { schema } = schemaOfX(`
class X(BaseModel):
    lines: list[Line]
    first: Line
    alias: "Line | None" = None
class Line(BaseModel):
    sku: str
`)
  const line = { $ref: '#/$defs/Line' }
  expect(schema.$defs).toEqual({
    Line: { title: 'Line', type: 'object', properties: { sku: string('Sku') }, required: ['sku'] },
  })
  expect(schema.properties).toEqual({
    lines: { type: 'array', items: line, title: 'Lines' },
    first: line,
    alias: { anyOf: [line, { type: 'null' }], default: null },
  })
})

test('a union: has a title unless it is a model or null', () => {
  const { schema } = schemaOfX(`
class A(BaseModel):
    a: int
class B(BaseModel):
    b: int
class X(BaseModel):
    either: A | B
    mixed: A | str
    optional: A | B | None = None
    nullable: A | None = None
`)
  const [a, b, none] = [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }, { type: 'null' }]
  expect(schema.properties).toEqual({
    either: { anyOf: [a, b], title: 'Either' },
    mixed: { anyOf: [a, { type: 'string' }], title: 'Mixed' },
    optional: { anyOf: [a, b, none], default: null, title: 'Optional' },
    nullable: { anyOf: [a, none], default: null },
  })
})

test('recursive model: refers to its own definition', () => {
  const { schema } = schemaOfX('class X(BaseModel):\n    next: X | None = None\n')
  expect(schema.$ref).toBe('#/$defs/X')
  expect(schema.$defs.X.properties.next.anyOf[0]).toEqual({ $ref: '#/$defs/X' })
})

test('inherited fields: overridden where the subclass declares them', () => {
  const { schema } = schemaOfX(`
class Mixin:
    def f(self): pass
class Base(BaseModel, extra="forbid"):
    a: int
    b: int = 1
class X(Mixin, Base):
    b: str
    c: int
`)
  expect(schema.properties).toEqual({ a: integer('A'), b: string('B'), c: integer('C') })
  expect(schema.required).toEqual(['a', 'b', 'c'])
  expect(schema.additionalProperties).toBe(false)
})

test.each([
  ['a dataclass', '@dataclass\nclass X:\n'],
  ['a dataclass with options', '@dataclasses.dataclass(frozen=True)\nclass X:\n'],
])('%s: fields of its constructor', (_, head) => {
  const { schema, notes } = schemaOfX(`${head}    a: int
    _: KW_ONLY
    b: str = "x"
    c: list[int] = field(default_factory=list)
    d: int = field(init=False)
    e: ClassVar[int] = 1
`)
  expect(notes).toBeUndefined()
  expect(schema).toEqual({
    title: 'X',
    type: 'object',
    properties: {
      a: integer('A'),
      b: { ...string('B'), default: 'x' },
      c: { type: 'array', items: { type: 'integer' }, title: 'C' },
    },
    required: ['a'],
  })
})

test('TypedDict: optional keys are not required', () => {
  const { schema } = schemaOfX(`
class Base(TypedDict):
    a: int
    b: NotRequired[int]
class X(Base, total=False):
    c: int
    d: Required[Annotated[int, Field(ge=0)]]
`)
  expect(Object.keys(schema.properties)).toEqual(['a', 'b', 'c', 'd'])
  expect(schema.properties.d).toEqual({ ...integer('D'), minimum: 0 })
  expect(schema.required).toEqual(['a', 'd'])
})

test('root model: schema of its root type', () => {
  const { schema } = schemaOfX('class X(RootModel[list[int]]): pass\n')
  expect(schema).toEqual({ type: 'array', items: { type: 'integer' }, title: 'X' })
})

test('alias generator of pydantic: names the fields', () => {
  const { schema } = schemaOfX(`
class X(BaseModel):
    model_config = {"alias_generator": to_camel}
    item_name: str
    own: int = Field(alias="mine")
`)
  expect(Object.keys(schema.properties)).toEqual(['itemName', 'mine'])
})

test('field with two accepted names: required under neither', () => {
  const { schema, notes } = schemaOfX(`
class X(BaseModel):
    class Config:
        populate_by_name = True
    a: int = Field(alias="A")
`)
  expect(Object.keys(schema.properties)).toEqual(['A', 'a'])
  expect(schema.required).toBeUndefined()
  expect(notes).toEqual(['X.a: it may be given as A or a'])
})

test.each([
  ['a plain class', 'class X:\n    a: int\n', 'input: X is not known: it is no dataclass'],
  [
    'a base from elsewhere',
    'from shop import Base\nclass X(Base):\n    a: int\n',
    "the base class 'Base' is not defined",
  ],
  [
    'an unknown alias generator',
    'class X(BaseModel):\n    model_config = ConfigDict(alias_generator=print)\n    a: int\n',
    'X: its alias generator is not known',
  ],
  [
    'a choice of aliases',
    'class X(BaseModel):\n    a: int = Field(validation_alias=AliasChoices("b", "c"))\n',
    'X.a: its alias is not a constant',
  ],
  [
    'a field of unknown type',
    'class X(BaseModel):\n    a: Strange\n',
    'X.a: the type Strange is not known',
  ],
  [
    'a bound that JSON cannot say',
    'class X(BaseModel):\n    a: Strange = Field(ge=1)\n',
    'X.a: its minimum is not checked',
  ],
  [
    'a pattern that could take for ever',
    'class X(BaseModel):\n    a: str = Field(pattern=r"(a)\\1")\n',
    'X.a: its pattern is not checked',
  ],
  [
    'a pattern of another dialect',
    'class X(BaseModel):\n    a: str = Field(pattern=r"(?!a)b")\n',
    'X.a: its pattern is not checked',
  ],
  [
    'lengths of all texts of a model',
    'class X(BaseModel):\n    model_config = ConfigDict(str_max_length=5)\n    a: str\n',
    'X: its str_max_length is not checked',
  ],
  [
    'type arguments',
    'class X(BaseModel, Generic[T]):\n    a: T\n',
    'X.a: the type TypeVar("T") is not known',
  ],
])('%s: unknown part is noted', (_, classes, note) => {
  expect(schemaOfX(classes).notes).toContainEqual(expect.stringContaining(note))
})

test('generic model with arguments: noted, not followed', () => {
  const { schema, notes } = schemaOfX('class X(BaseModel, Generic[T]):\n    a: T\n', 'X[int]')
  expect(schema.properties.a).toEqual({ title: 'A' })
  expect(notes).toContain('input: the type arguments of X are not followed')
})

test('root type in the class body: used', () => {
  const { schema, notes } = schemaOfX('class X(RootModel):\n    root: list[int]\n')
  expect(schema).toEqual({ type: 'array', items: { type: 'integer' }, title: 'X' })
  expect(notes).toBeUndefined()
  expect(schemaOfX('class X(RootModel): ...\n').notes).toEqual(['X: its root type is not known'])
})

test('mixin with annotations: fields of a model, ignored by a dataclass', () => {
  const mixin = 'class M:\n    m: int\n    n: str = "x"\n'
  const { schema } = schemaOfX(`${mixin}class X(M, BaseModel):\n    a: int\n`)
  expect(Object.keys(schema.properties)).toEqual(['m', 'n', 'a'])
  expect(schema.required).toEqual(['m', 'a'])
  const { schema: plain } = schemaOfX(`${mixin}@dataclass\nclass X(M):\n    a: int\n`)
  expect(Object.keys(plain.properties)).toEqual(['a'])
})

test('dataclass alias: used; Final constant of a model: no field', () => {
  const alias = schemaOfX('@dataclass\nclass X:\n    a: int = Field(alias="b")\n')
  expect(alias.schema).toMatchObject({ properties: { b: { type: 'integer' } }, required: ['b'] })
  const { schema } = schemaOfX('class X(BaseModel):\n    a: Final[int] = 3\n    b: Final[int]\n')
  expect(Object.keys(schema.properties)).toEqual(['b'])
})

test('enumeration with None and True: both are values', () => {
  const { schema, notes } = schemaOfX('class X(Enum):\n    A = "x"\n    B = None\n    C = True\n')
  expect(schema).toEqual({ enum: ['x', null, true], title: 'X' })
  expect(notes).toBeUndefined()
})

test('classes with equal names: separate definitions', () => {
  const { schema } = schemaOfX(`
class A:
    class In(BaseModel):
        a: int
class B:
    class In(BaseModel):
        b: int
class X(BaseModel):
    a: A.In
    b: B.In
`)
  expect(Object.keys(schema.$defs)).toEqual(['In', 'In_2'])
  expect(schema.properties.b).toEqual({ $ref: '#/$defs/In_2' })
})
