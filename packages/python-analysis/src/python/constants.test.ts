import { expect, test } from 'vitest'
import { parser } from '../../test/analysis-fixture.ts'
import { Budget } from './budget.ts'
import { constantOf } from './constants.ts'
import { outlineOf } from './outline.ts'
import { bindingsIn } from './scope.ts'

/** Returns the final value of a module's `x`. */
function valueOfX(source: string) {
  const { module: scope } = outlineOf(parser.parse(source), source)
  const binding = bindingsIn(scope, 'x')?.at(-1)
  if (binding?.kind !== 'value') return undefined
  return constantOf({
    node: binding.value,
    scope,
    at: binding.at,
    hops: 0,
    budget: new Budget(),
  })
}

test.each([
  ['x = None', null],
  ['x = True', true],
  ['x = not True', false],
  ['x = 0x_ff', 255],
  ['x = 0o17 + 0b11', 18],
  ['x = 1_000', 1000],
  ['x = 00', 0],
  ['x = -1', -1],
  ['x = +1.5e3', 1500],
  ['x = .5', 0.5],
  ['x = 1_0.', 10],
  ['x = 2 ** 10 * 3 // 4 % 100 - 1', 67],
  ['x = -7 // 2', -4],
  ['x = -7 % 3', 2],
  ['x = (1 + 2) / 4', 0.75],
  ['x = "a" "b"\n', 'ab'],
  ['x = \'a\' + "b"', 'ab'],
  ['x = """a\nb"""', 'a\nb'],
  [String.raw`x = "\x41\u00e9\U0001F600\101\n\q\'"`, "Aé😀A\n\\q'"],
  [String.raw`x = r"\n" + R'\''`, "\\n\\'"],
  ['x = u"ü"', 'ü'],
  ['x = f"a{{b}}"', 'a{b}'],
  ['x = "a\\\nb"', 'ab'],
  ['x = [1, "a", None, [True]]', [1, 'a', null, [true]]],
  ['x = (1,)', [1]],
  ['x = 1, 2', [1, 2]],
  ['x = ()', []],
  ['x = {"b", "a"}', ['b', 'a']],
  ['x = [  # one\n  1,\n]', [1]],
  ['y = ["a"]\nx = [*y, "b"] + y', ['a', 'b', 'a']],
  ['x = frozenset(["a"])', ['a']],
  [
    'x = {"a": 1, 2: "b"}',
    new Map<unknown, unknown>([
      ['a', 1],
      [2, 'b'],
    ]),
  ],
  [
    'y = {"a": 1}\nx = {**y, "b": 2}',
    new Map([
      ['a', 1],
      ['b', 2],
    ]),
  ],
  ['x = {"a": 1} | {"a": 2}', new Map([['a', 2]])],
  ['x = dict(a="b")', new Map([['a', 'b']])],
  ['a = "n"\nb = a\nx = b', 'n'],
  ['a = 1\nx = a\na = 2', 1],
  ['x: str = "typed"', 'typed'],
  ['x = y = 5', 5],
  ['class C:\n  A = "in"\nx = C.A', 'in'],
  ['ﬁ = 3\nx = fi', 3],
])('%j: evaluates to %j', (source, value) => {
  expect(valueOfX(source)).toEqual(value)
})

test.each([
  ['a call', 'x = f()'],
  ['an environment variable', 'import os\nx = os.environ["A"]'],
  ['an f-string with a field', 'y = 1\nx = f"{y}"'],
  ['bytes', 'x = b"a"'],
  ['a character by its name', String.raw`x = "\N{BULLET}"`],
  ['half a surrogate pair', String.raw`x = "\ud800"`],
  ['an imaginary number', 'x = 1j'],
  ['a number beyond all', 'x = 1e999'],
  ['division by zero', 'x = 1 / 0'],
  ['a condition', 'x = 1 if y else 2'],
  ['a comprehension', 'x = [i for i in "ab"]'],
  ['an unbound name', 'x = y'],
  ['a name of two values', 'if a:\n  y = 1\nelse:\n  y = 2\nx = y'],
  ['a name that is changed', 'y = ["a"]\ny.append("b")\nx = y'],
  ['a name that is added to', 'y = 1\ny += 1\nx = y'],
  ['a name whose item is replaced', 'y = {}\ny["a"] = 1\nx = y'],
  ['a loop variable', 'for y in "ab":\n  pass\nx = y'],
  ['a value of a context manager', 'with open("a") as y:\n  pass\nx = y'],
  ['an unpacked name', 'y, z = 1, 2\nx = y'],
  ['a deleted name', 'y = 1\ndel y\nx = y'],
  ['a circle of names', 'x = y\ny = x'],
  ['a name that stands for itself', 'x = x'],
  ['a shadowed builtin', 'def dict(**a): pass\nx = dict(a=1)'],
  ['a list repeated', 'x = ["a"] * 1000000'],
  ['a sum of ten thousand', `x = ${'1 + '.repeat(10_000)}1`],
])('%s: unknown without running the source', (_, source) => {
  expect(valueOfX(source)).toBeUndefined()
})

test('names that double one another: refused before they use memory', () => {
  const doubling = Array.from({ length: 20 }, (_, i) => `a${i + 1} = a${i} + a${i}`)
  const source = `a0 = ["x"]\n${doubling.join('\n')}\nx = a20`
  expect(() => valueOfX(source)).toThrow('more than can be analysed')
})
