/** Source that attacks the analysis, with the workflows that must be found in it. */
export interface Hostile {
  name: string
  source: () => Uint8Array
  /** Undefined: refused. */
  workflows: string[] | undefined
}

const SDK = 'from windlass import ExecutionContext, task, workflow\n'
const JOB = '@workflow\nasync def job(ctx): pass\n'

const of = (name: string, text: string | (() => string), workflows?: string[]): Hostile => ({
  name,
  workflows,
  source: () => Buffer.from(typeof text === 'string' ? text : text()),
})
const beside = (name: string, statement: () => string, workflows?: string[]) =>
  of(name, () => `${SDK}${JOB}${statement()}\n`, workflows)

/** Sizes are at or near the largest upload: 1 MiB. */
export const hostileSources: Hostile[] = [
  beside('100,000 nested brackets', () => `x = ${'('.repeat(100_000)}1${')'.repeat(100_000)}`),
  beside('100,000 brackets that never close', () => `x = ${'['.repeat(100_000)}`),
  beside('200 nested brackets', () => `x = ${'['.repeat(200)}${']'.repeat(200)}`, ['job']),
  beside('201 nested brackets', () => `x = ${'['.repeat(201)}${']'.repeat(201)}`),
  beside('a line of a megabyte', () => `x = "${'a'.repeat(1_000_000)}"`, ['job']),
  beside('a comment of a megabyte', () => `# ${'('.repeat(1_000_000)}`, ['job']),
  beside('a million unary minus', () => `x = ${'-'.repeat(1_000_000)}1`),
  beside('100,000 times not', () => `x = ${'not '.repeat(100_000)}1`, ['job']),
  beside('a million digits', () => `x = ${'9'.repeat(1_000_000)}`, ['job']),
  beside('500,000 elements', () => `x = [${'1,'.repeat(500_000)}]`, ['job']),
  beside('an f-string of 300,000 fields', () => `x = f"${'{a}'.repeat(300_000)}"`, ['job']),
  beside('60,000 elif', () => `a = b = 1\nif a:\n pass\n${'elif b:\n pass\n'.repeat(60_000)}`, [
    'job',
  ]),
  beside('100,000 lambdas', () => `x = ${'lambda:'.repeat(100_000)}0`, ['job']),
  beside('100,000 awaits in one another', () => `x = ${'await '.repeat(100_000)}job`),
  beside('80,000 awaits', () => `async def f(): return ${'await job+'.repeat(80_000)}1`, ['job']),
  beside('a chain of 200,000 attributes', () => `x = job${'.b'.repeat(200_000)}`, ['job']),
  beside('a chain of 100,000 calls', () => `x = job${'()'.repeat(100_000)}`, ['job']),
  beside('20,000 f-strings in f-strings', () => `x = ${'f"{'.repeat(20_000)}`),
  beside('a staircase of 1,000 steps', () =>
    Array.from({ length: 1_000 }, (_, i) => `${' '.repeat(i)}if a:\n`).join(''),
  ),
  beside('half a megabyte of semicolons', () => `x = 1${';x=1'.repeat(125_000)}`, ['job']),
  beside('300,000 blank lines', () => '\n'.repeat(300_000), ['job']),
  beside('a megabyte of backslashes', () => '\\\n'.repeat(300_000)),
  of('a megabyte of NUL', () => '\0'.repeat(1_000_000)),
  of('a megabyte of byte order marks', () => '\ufeff'.repeat(300_000)),
  of(
    'a megabyte of decorators',
    () => `${SDK}${'@workflow\n'.repeat(100_000)}async def job(ctx): pass\n`,
    ['job'],
  ),
  of('50,000 decorators of another kind', () => `${SDK}${'@x\n'.repeat(50_000)}${JOB}`, ['job']),
  of(
    '100,000 names for the decorator',
    () =>
      `${SDK}${Array.from({ length: 20_000 }, (_, i) => `w${i} = ${i ? `w${i - 1}` : 'workflow'}\n`).join('')}@w19999\nasync def job(ctx): pass\n`,
  ),
  of(
    'a name that doubles 40 times',
    () =>
      `${SDK}a0 = "x"\n${Array.from({ length: 40 }, (_, i) => `a${i + 1} = a${i} + a${i}\n`).join('')}@workflow.with_options(name=a40)\nasync def job(ctx): pass\n`,
  ),
  of(
    'a list that doubles 40 times',
    () =>
      `${SDK}a0 = ["x"]\n${Array.from({ length: 40 }, (_, i) => `a${i + 1} = [*a${i}, *a${i}]\n`).join('')}@workflow.with_options(secret_requests=a40)\nasync def job(ctx): pass\n`,
  ),
  of(
    '100,000 labels',
    () =>
      `${SDK}@workflow.with_options(affinity={${Array.from({ length: 50_000 }, (_, i) => `"l${i}": "v"`).join()}})\nasync def job(ctx): pass\n`,
  ),
  of(
    'types in 150 lists',
    () =>
      `${SDK}@workflow\nasync def job(ctx: ExecutionContext[${'list['.repeat(150)}int${']'.repeat(150)}]): pass\n`,
    ['job'],
  ),
  of(
    'a class that is its own base',
    () => `${SDK}class A(A): x: int\n@workflow\nasync def job(ctx: ExecutionContext[A]): pass\n`,
    ['job'],
  ),
  of(
    '2,000 classes that inherit one another',
    () =>
      `${SDK}from pydantic import BaseModel\nclass C0(BaseModel): x: int\n${Array.from({ length: 2_000 }, (_, i) => `class C${i + 1}(C${i}): x${i}: int\n`).join('')}@workflow\nasync def job(ctx: ExecutionContext[C2000]): pass\n`,
    ['job'],
  ),
  of('a megabyte of anything', () =>
    Array.from({ length: 1_000_000 }, (_, i) => String.fromCharCode(32 + ((i * 7_919) % 95))).join(
      '',
    ),
  ),
]
