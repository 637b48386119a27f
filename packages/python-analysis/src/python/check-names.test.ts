import { expect, test } from 'vitest'
import { analyseSource } from '../../test/analysis-fixture.ts'

const HEAD = 'from windlass import ExecutionContext, task, workflow\n'
const JOB = '@workflow\nasync def job(ctx: ExecutionContext): pass\n'

test.each([
  [
    'in a body',
    `${HEAD}@workflow\nasync def job(ctx):\n    return fetch(ctx)\n`,
    'fetch',
    'line 4, column 12',
  ],
  [
    'in a task that nothing calls',
    `${HEAD}${JOB}@task\nasync def t(): await get()\n`,
    'get',
    'line 5, column 22',
  ],
  [
    'in a default',
    `${HEAD}@workflow\nasync def job(ctx, n=LIMIT): pass\n`,
    'LIMIT',
    'line 3, column 22',
  ],
  [
    'in the annotation of a parameter',
    `${HEAD}@workflow\nasync def job(ctx: ExecutionContext[Order]): pass\n`,
    'Order',
    'line 3, column 37',
  ],
  ['as a base class', `${HEAD}${JOB}class A(Model): pass\n`, 'Model', 'line 4, column 9'],
  [
    'in an f-string',
    `${HEAD}${JOB}a = f"{name!r:>{width}}"\nname = 1\n`,
    'width',
    'line 4, column 17',
  ],
  ['as a receiver', `${HEAD}${JOB}def f(): return json.dumps(1)\n`, 'json', 'line 4, column 17'],
  [
    'as the value of an argument of its name',
    `${HEAD}${JOB}print(sep=sep)\n`,
    'sep',
    'line 4, column 11',
  ],
  [
    'as an exception',
    `${HEAD}${JOB}try: pass\nexcept Missing as e: pass\n`,
    'Missing',
    'line 5, column 8',
  ],
  [
    'as a context manager',
    `${HEAD}${JOB}def f():\n    with lock as held: pass\n`,
    'lock',
    'line 5, column 10',
  ],
  ['in a name of other characters', `${HEAD}${JOB}größe = ﬁle\n`, 'file', 'line 4, column 9'],
])('a name that nothing binds, %s: refused with line and column', (_, source, name, place) => {
  expect(() => analyseSource(source)).toThrow(
    `Unknown name in ${place}: '${name}' is neither defined nor imported`,
  )
})

test.each([
  ['imports', 'import a.b, c as d\nfrom e import (f, g as h)\nprint(a, d, f, h)'],
  [
    'assignments',
    'a = b = 1\nc, (d, *e) = [f, g] = 1, 2, 3\nh: int = 1\nprint(a, b, c, d, e, f, g, h)',
  ],
  [
    'parameters',
    'def f(a, /, b: int, *c, d=1, e: int = 2, **g):\n    return a, b, c, d, e, g\nprint(lambda x, *y, z=1: (x, y, z))',
  ],
  [
    'loops and handlers',
    'for a, (b, c) in []: print(a, b, c)\nwith open("x") as (d, e): print(d, e)\ntry: pass\nexcept OSError as f: print(f)\nexcept (KeyError, ValueError): pass',
  ],
  ['expressions', 'print([a for a, b in [] if b], {c: d for c, d in []})\nif (e := 1): print(e)'],
  [
    'patterns',
    'match 1:\n    case [a, *b]: print(a, b)\n    case {"c": d, **e}: print(d, e)\n    case str(f) | int(real=f) as g: print(f, g)\n    case h: print(h)',
  ],
  [
    'type parameters',
    'class A[T]: x: T\ndef f[*S, **P](x: S) -> P: pass\ntype B[U] = list[U]\nprint(B)',
  ],
  [
    'scopes of others',
    'def f():\n    global a\n    a = 1\ndef g():\n    b = 1\n    def h():\n        nonlocal b\n        return a, b',
  ],
  ['a later definition', 'def f(): return g()\ndef g(): return 1'],
  [
    'attributes and names of arguments',
    'print("x".nothing.at_all, sep="", end="")\ndict(nothing=1)',
  ],
  ['built-in names', 'print(__name__, __file__, len([]), ExceptionGroup, aiter, _)'],
  ['strings and comments', '# nothing\n"nothing", f"{{nothing}}", r"\\{nothing}", b"nothing"'],
  ['annotations of variables of functions', 'def f():\n    a: Nothing = 1\n    return a'],
  [
    'a handled NameError',
    'try:\n    display\nexcept NameError:\n    pass\ntry:\n    unicode\nexcept (NameError, TypeError):\n    pass',
  ],
  ['an expected NameError', 'with open(NameError):\n    display'],
  [
    'names of Python 2 and of optional imports',
    'try:\n    import orjson as json\nexcept ImportError:\n    import json\ntext = str if True else unicode\nprint(json)',
  ],
  [
    'names that are imported for type checkers only',
    'from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shop import Order\ndef f(a: "Order", b: "Nothing"): return a',
  ],
  [
    'deleted, shadowed and class names',
    'a = 1\ndel a\nprint(a)\nclass A:\n    b = 1\n    c = [b for _ in range(b)]\nprint(b)',
  ],
  ['an attribute of a module', 'import sys\nsys.modules[__name__].a = 1\nprint(a)'],
  ['an import of everything', 'from shop import *\nprint(anything)'],
  ['dynamic definitions', 'globals()["a"] = 1\nprint(a)'],
])('%s: accepted', (_, text) => {
  expect(() => analyseSource(`${HEAD}${JOB}${text}\n`)).not.toThrow()
})

test('annotations that are not evaluated: accepted', () => {
  const source = `from __future__ import annotations
${HEAD}${JOB}def f(x: Nothing) -> Nothing: pass
a: Nothing = 1
`
  expect(() => analyseSource(source)).not.toThrow()
})
