import { expect, test } from 'vitest'
import { analyseSource } from '../test/analysis-fixture.ts'

const read = (source: string) => analyseSource(source)

const SDK = 'from windlass import ExecutionContext, task, workflow\n'
const JOB = '@workflow\nasync def job(ctx): pass\n'
const of = (n: number, line: (i: number) => string) =>
  Array.from({ length: n }, (_, i) => line(i)).join('')

/** Hang limit, far above the production limit of 2 s of processor time. */
const HANG_MS = 60_000

test.each([
  ['a list of a hundred thousand', `x = [${'1,'.repeat(100_000)}]\n`],
  ['two hundred thousand signs', `x = ${'-'.repeat(200_000)}1\n`],
  ['a number of a million digits', `x = ${'1'.repeat(1_000_000)}\n`],
  ['a line of a megabyte', `x = "${'a'.repeat(1_000_000)}"\n`],
  ['ten thousand branches', `a = b = 1\nif a:\n pass\n${'elif b:\n pass\n'.repeat(10_000)}`],
  ['a string of fifty thousand fields', `a = 1\nx = f"${'{a}'.repeat(50_000)}"\n`],
  ['a sum of a hundred thousand', `x = ${'1+'.repeat(100_000)}1\n`],
  ['an attribute of attributes', `x = job${'.b'.repeat(100_000)}\n`],
  ['a decorator of attributes', `@job${'.b'.repeat(100_000)}\nasync def f(): pass\n`],
  ['fifty thousand awaits', `async def f(): return ${'await job+'.repeat(50_000)}1\n`],
  ['a hundred thousand starred values', `${'*job,'.repeat(100_000)}\n`],
  ['a starred attribute of attributes', `x = [*job${'.b'.repeat(100_000)}]\n`],
  ['fifty thousand global names', `def f():\n  global ${of(50_000, (i) => `a${i},`)}a\n`],
  ['a sum of a global name', `def f():\n  global a\n  a = ${'a+'.repeat(100_000)}1\n`],
  ['forty thousand names of a with', `with ${of(40_000, (i) => `job as a${i},`)} job: pass\n`],
  ['fifty thousand alternatives', `match job:\n  case ${of(50_000, (i) => `${i}|`)}1: pass\n`],
  ['forty thousand clauses', `x = [a ${'for a in job '.repeat(40_000)}]\n`],
  ['190 comprehensions in one another', `x = ${'['.repeat(190)}1${' for a in job]'.repeat(190)}\n`],
  ['fifty thousand lambdas in one another', `x = ${'lambda: '.repeat(50_000)}1\n`],
  ['five thousand methods of one name', `class A:\n${'  def m(self): self.m()\n'.repeat(5_000)}`],
])(
  '%s next to a workflow: the workflow is found',
  (_, hostile) => {
    expect(read(SDK + JOB + hostile).map(({ name }) => name)).toEqual(['job'])
  },
  HANG_MS,
)

test.each([
  ['brackets in brackets', `${SDK}${JOB}x = ${'['.repeat(100_000)}${']'.repeat(100_000)}\n`],
  ['brackets that are never closed', `${SDK}${JOB}x = ${'('.repeat(100_000)}`],
  ['f-strings in f-strings', `${SDK}x = ${'f"{'.repeat(20_000)}`],
  ['a staircase', `${SDK}${of(1_000, (i) => `${' '.repeat(i)}if a:\n`)}`],
  ['an unknown name with 100,000 attributes', `${SDK}${JOB}x = a${'.b'.repeat(100_000)}\n`],
  [
    'an unknown name after 100,000 parameters',
    `${SDK}${JOB}def f(${of(100_000, (i) => `p${i},`)}): return a\n`,
  ],
  ['garbage', '\u0001@#$%^&*'.repeat(100_000)],
  ['5,000 workflows', `${SDK}${of(5_000, (i) => `@workflow\nasync def f${i}(c):0\n`)}`],
  [
    'a name of 20,000 parts',
    `${SDK}@workflow.with_options(name=${'"a"+'.repeat(20_000)}"b")\nasync def job(ctx): pass\n`,
  ],
  [
    'a chain of 10,000 names',
    `${SDK}a0 = "x"\n${of(10_000, (i) => `a${i + 1} = a${i} + a${i}\n`)}@workflow.with_options(name=a10000)\nasync def job(ctx): pass\n`,
  ],
  [
    'a type of 70,000 alternatives',
    `${SDK}@workflow\nasync def job(ctx: ExecutionContext[${'int|'.repeat(70_000)}str]): pass\n`,
  ],
  [
    '900 workflows with 9,000 imports each',
    `${SDK}${of(900, (i) => `@workflow\nasync def f${i}(c):0\n`)}${of(9_000, (i) => `import aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa${i}\n`)}`,
  ],
  [
    'a docstring of half a megabyte',
    `${SDK}@workflow\nasync def job(ctx):\n  "${'a'.repeat(500_000)}"\n`,
  ],
])(
  '%s: refused',
  (_, source) => {
    expect(() => read(source)).toThrow(expect.objectContaining({ kind: 'invalid' }))
  },
  HANG_MS,
)

test('hostile source first: the next source is analysed as usual', () => {
  expect(() => read(`${SDK}x = ${'('.repeat(100_000)}`)).toThrow()
  expect(read(SDK + JOB)).toHaveLength(1)
})

test('chain of 1,000 types: cut at 200 with a note', () => {
  const classes = of(1_000, (i) => `class M${i}(BaseModel):\n  x: "M${i + 1} | None"\n`)
  const source = `${SDK}from pydantic import BaseModel\n${classes}@workflow\nasync def job(ctx: ExecutionContext[M0]): pass\n`
  const [job] = read(source)
  expect(Object.keys(JSON.parse(job?.input_schema_json ?? '').$defs)).toHaveLength(199)
  expect(JSON.parse(job?.metadata_json ?? '').schema_notes).toEqual([
    'M199.x: M200 is one type too many',
  ])
})

test('names of Object.prototype: treated like any name', () => {
  const source = `${SDK}import windlass, constructor, valueOf
from pydantic import BaseModel, Field
class X(constructor): a: int
class Y(BaseModel):
  x: X
  b: int = Field(toString=1, __proto__=2)
  c: valueOf.valueOf
@workflow
async def typed(ctx: ExecutionContext[Y]): pass
@workflow.with_options(name="__proto__", secret_requests=["constructor"])
async def job(ctx): pass
@workflow
async def toString(ctx): pass
`
  expect(read(source).map(({ name }) => name)).toEqual(['typed', '__proto__', 'toString'])
  const unknown = JOB.replace('workflow', 'workflow.with_options(toString=1)')
  expect(() => read(SDK + unknown)).toThrow("Unknown option 'toString'")
  const odd = JOB.replace('workflow', 'workflow.with_options(schedule=windlass.constructor())')
  expect(() => read(`import windlass\n${SDK}${odd}`)).toThrow('schedule of')
})
