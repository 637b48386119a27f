import { expect, test } from 'vitest'
import { analyseSource } from '../test/analysis-fixture.ts'

const namesIn = (source: string) =>
  analyseSource(source, ['windlass', 'flux']).map(({ namespace, name }) => `${namespace}/${name}`)

const BODY = 'async def job(ctx):\n    return 1\n'
const IMPORT = 'from windlass import workflow\n'

test.each([
  ['the plain decorator', `${IMPORT}@workflow\n${BODY}`],
  ['a called decorator', `${IMPORT}@workflow()\n${BODY}`],
  ['options', `${IMPORT}@workflow.with_options()\n${BODY}`],
  ['the package of the reference', `from flux import workflow\n@workflow\n${BODY}`],
  ['an alias of the decorator', `from windlass import workflow as wf\n@wf\n${BODY}`],
  ['the package', `import windlass\n@windlass.workflow\n${BODY}`],
  ['an alias of the package', `import windlass as w\n@w.workflow.with_options()\n${BODY}`],
  ['a submodule', `from windlass.workflow import workflow\n@workflow\n${BODY}`],
  ['a submodule by its path', `import flux.workflow\n@flux.workflow.workflow\n${BODY}`],
  ['everything imported', `from windlass import *\n@workflow\n${BODY}`],
  ['an alias of an alias', `${IMPORT}a = workflow\nb = a\n@b\n${BODY}`],
  ['a decorator kept with its options', `${IMPORT}mine = workflow.with_options()\n@mine\n${BODY}`],
  [
    'an import that may fail',
    `try:\n  from windlass import workflow\nexcept ImportError:\n  from flux import workflow\n@workflow\n${BODY}`,
  ],
  [
    'an import that is missed',
    `try:\n  from windlass import workflow\nexcept ImportError:\n  workflow = None\n@workflow\n${BODY}`,
  ],
  [
    'an import over several lines',
    `from windlass import (\n  task,\n  workflow as wf,  # this\n)\n@wf\n${BODY}`,
  ],
  ['a line joined inside an import', `import \\\n  windlass as w\n@w . workflow\n${BODY}`],
  [
    'other decorators around it',
    `${IMPORT}import functools\nother = print\n@other\n@workflow\n@functools.cache\n${BODY}`,
  ],
  ['a parenthesised decorator', `${IMPORT}@(workflow)\n${BODY}`],
  ['a definition in a branch', `${IMPORT}if True:\n  @workflow\n  async def job(ctx): pass\n`],
  [
    'a definition in a function',
    `${IMPORT}def make():\n  @workflow\n  async def job(ctx): pass\n  return job\nx = make()\n`,
  ],
  [
    'an import in a function',
    `def make():\n  from windlass import workflow\n  @workflow\n  async def job(ctx): pass\n`,
  ],
  ['a parameter of the same name elsewhere', `${IMPORT}def f(workflow): pass\n@workflow\n${BODY}`],
  ['a later name of the same name', `${IMPORT}@workflow\n${BODY}workflow = 1\n`],
  [
    'a class attribute of the same name',
    `${IMPORT}class A:\n  workflow = 1\n  def f(self):\n    @workflow\n    async def job(ctx): pass\n`,
  ],
  [
    'windows line ends and a byte order mark',
    `\ufeff${IMPORT}@workflow\n${BODY}`.replaceAll('\n', '\r\n'),
  ],
  ['type parameters', `${IMPORT}@workflow\nasync def job[T](ctx: T) -> T:\n  return ctx\n`],
  [
    'a module-level name for the name',
    `${IMPORT}N = "j" + "ob"\n@workflow.with_options(name=N)\nasync def f(ctx): pass\n`,
  ],
  ['None and empty names', `${IMPORT}@workflow.with_options(name=None, namespace="")\n${BODY}`],
  [
    'options in a dictionary',
    `${IMPORT}O = {"name": "job"}\n@workflow.with_options(**O)\nasync def f(ctx): pass\n`,
  ],
])('%s: recognized', (_, source) => {
  expect(namesIn(source)).toEqual(['default/job'])
})

test.each([
  ['an empty file', ''],
  ['a function without decorator', BODY],
  ['the decorator of another package', `from prefect import workflow\n@workflow\n${BODY}`],
  ['a decorator of its own', `def workflow(f): return f\n@workflow\n${BODY}`],
  ['a shadowed import', `${IMPORT}def workflow(f): return f\n@workflow\n${BODY}`],
  [
    'a shadowing parameter',
    `${IMPORT}def make(workflow):\n  @workflow\n  async def job(ctx): pass\n`,
  ],
  [
    'a local name that is bound later',
    `${IMPORT}def make():\n  @workflow\n  async def job(ctx): pass\n  workflow = 1\n`,
  ],
  ['a relative import', `from .windlass import workflow\n@workflow\n${BODY}`],
  ['a package that begins alike', `from windlass_extra import workflow\n@workflow\n${BODY}`],
  ['an unimported name', `@workflow\n${BODY}`],
  ['a string', `${IMPORT}x = """\n@workflow\n${BODY}"""\n`],
  ['a comment', `${IMPORT}# @workflow\n${BODY}`],
  ['a task', `from windlass import task\n@task\n${BODY}`],
  ['another part of the package', `import windlass\n@windlass.call\n${BODY}`],
])('%s: not a workflow', (_, source) => {
  expect(() => namesIn(source)).toThrow('No workflow found in the provided code.')
})

test('several workflows: returned in source order', () => {
  const source = `${IMPORT}@workflow
async def b(ctx): pass
@workflow.with_options(namespace="a-1")
async def c(ctx): pass
@workflow.with_options(name="Ünïcode name.1_-")
async def d(ctx): pass
`
  expect(namesIn(source)).toEqual(['default/b', 'a-1/c', 'default/Ünïcode name.1_-'])
})

test('decomposed name: stored in NFC', () => {
  const source = `${IMPORT}@workflow.with_options(name="e\\u0301")\n${BODY}`
  expect(namesIn(source)).toEqual(['default/é'])
})

const named = (options: string) => `${IMPORT}@workflow.with_options(${options})\n${BODY}`
test.each([
  [
    'a namespace with a capital',
    named('namespace="Shop"'),
    "namespace of workflow 'job' in line 3",
  ],
  ['a namespace too long', named(`namespace="${'a'.repeat(65)}"`), 'namespace'],
  ['a namespace with a line end', named('namespace="a\\n"'), 'namespace'],
  ['a namespace of dots', named('namespace=".."'), 'namespace'],
  [
    'a computed namespace',
    named('namespace=f()'),
    "namespace of workflow 'job' in line 3: it must be a constant",
  ],
  ['a name with a slash', named('name="a/b"'), "name of workflow 'job'"],
  ['a name with a colon', named('name="a:b"'), 'name'],
  ['a name with an asterisk', named('name="*"'), 'name'],
  ['a name of dots', named('name=".."'), 'name'],
  ['a name of blanks', named('name="  "'), 'name'],
  ['a name with a control character', named('name="a\\tb"'), 'name'],
  ['a name with an invisible character', named('name="a\\u200bb"'), 'name'],
  ['a name too long', named(`name="${'a'.repeat(129)}"`), 'name'],
  ['a name of 10 kB', named(`name="${'a'.repeat(10_000)}"`), 'name'],
  ['a name that is a number', named('name=1'), 'name'],
  [
    'a computed name',
    named('name="a" + str(1)'),
    "name of workflow 'job' in line 3: it must be a constant",
  ],
  ['positional options', named('"a"'), 'options'],
  ['unpacked options', named('**f()'), 'options'],
  [
    'a plain function',
    `${IMPORT}@workflow\ndef job(ctx): pass\n`,
    "The workflow 'job' in line 3 must be an async function",
  ],
  ['a class', `${IMPORT}@workflow\nclass job: pass\n`, 'must be an async function'],
  [
    'one name twice',
    `${IMPORT}@workflow\n${BODY}@workflow.with_options(name="job")\nasync def g(ctx): pass\n`,
    "Workflow 'default/job' is defined twice",
  ],
  [
    'more than a thousand',
    IMPORT + Array.from({ length: 1001 }, (_, i) => `@workflow\nasync def f${i}(c): 0\n`).join(''),
    'at most 1000 workflows',
  ],
  [
    'a print statement',
    `${IMPORT}@workflow\n${BODY}print "x"\n`,
    "line 5, column 1: missing parentheses in call to 'print'",
  ],
  [
    'a wrong expression',
    `${IMPORT}@workflow\nasync def job(ctx):\n    x = = 1\n`,
    'line 4, column',
  ],
  [
    'a missing colon',
    `${IMPORT}@workflow\nasync def job(ctx)\n    return 1\n`,
    "line 3, column 18: expected ':'",
  ],
  ['another language', 'SELECT * FROM x;\n', 'line 1'],
])('%s: refused', (_, source, reason) => {
  expect(() => namesIn(source)).toThrow(
    expect.objectContaining({ kind: 'invalid', message: expect.stringContaining(reason) }),
  )
})

test('imports: listed once, those of the module first', () => {
  const source = `import a.b as c, d
from e import f as g
def h():
  import i
from . import j
from .k import l
from m import *
import d
${IMPORT}@workflow
${BODY}`
  const [workflow] = analyseSource(source)
  expect(workflow?.imports).toEqual([
    'a.b',
    'd',
    'e.f',
    'j',
    'k.l',
    'm.*',
    'windlass.workflow',
    'i',
  ])
})
