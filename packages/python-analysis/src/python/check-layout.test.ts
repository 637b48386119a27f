import { expect, test } from 'vitest'
import { checkLayout } from './check-layout.ts'

const nested = (open: string, close: string, depth: number) =>
  `x = ${open.repeat(depth)}${close.repeat(depth)}\n`

test.each([
  ['an empty source', ''],
  ['blank lines and comments only', '\n  \n# x\n\t# y\n'],
  ['blocks and their ends', 'if a:\n  b\n  if c:\n      d\nelse:\n\te\n'],
  ['a comment at any indentation', 'if a:\n  b\n        # deep\n# not deep\n  c\n'],
  ['lines joined in brackets', 'f(\n1,\n        2,\n)\nx = [\n]\n'],
  ['lines joined by backslashes', 'x = 1 + \\\n      2\nif a and \\\n b:\n  c\n'],
  ['blank lines joined by backslashes', 'if a:\n  b\n\\\n\nc\n   \\\n\\\n# x\nd\n'],
  ['an indentation that continues in the next line', 'if a:\n  \\\n      b\n\\\n  c\n'],
  ['a block after a one-line clause', 'if a: b\nelse:\n  c\n'],
  ['brackets and quotes in strings and comments', 'x = "(["  # ({\ny = \'"\'\n'],
  ['strings over several lines', 'x = """\n  (\nif:\n"""\n'],
  ['escaped quotes', String.raw`x = "\"" + '\'' + r"\""`],
  ['fields of f-strings', 'x = f"{a} {{b}} {c!r:>{w}} {d["k"]} {e:%H:%M}"\n'],
  ['f-strings in f-strings', 'x = f"{f"{a + f"{b}"}"}"\n'],
  ['braces of named characters', String.raw`x = f"\N{BULLET} {a}" + rf"\{a}{{1}}"`],
  ['a format specification at the end of a line', 'x = f"{a:>3}"\ny = 1\n'],
  ['a form feed before a line', 'if a:\n  b\n\f\nc = 1\n'],
  ['a source without a last line end', 'if a:\n  b'],
  ['as many brackets as Python takes', nested('(', ')', 200)],
])('%s: accepted', (_, source) => {
  expect(() => checkLayout(source)).not.toThrow()
})

test.each([
  ['x = (1,\ny = 2\n', 1, 5, "'(' was never closed"],
  ['x = 1)\n', 1, 6, "unmatched ')'"],
  ['x = (1]\n', 1, 7, "closing parenthesis ']' does not match opening parenthesis '('"],
  ['if a:\nb\n', 2, 1, 'expected an indented block'],
  ['if a:\n', 1, 5, 'expected an indented block'],
  ['if a:\n  b\n c\n', 3, 2, 'unindent does not match any outer indentation level'],
  ['a\n  b\n', 2, 3, 'unexpected indent'],
  ['def f()\n  b\n', 1, 7, "expected ':'"],
  ['els:\n  b\n', 1, 1, 'invalid syntax'],
  ['if a:\n\tb\n        c\n', 3, 9, 'inconsistent use of tabs and spaces in indentation'],
  ['x = "abc\n', 1, 5, 'unterminated string literal'],
  ['x = """abc\n', 1, 5, 'unterminated string literal'],
  ['x = f"a } b"\n', 1, 9, "f-string: single '}' is not allowed"],
  ['x = f"{a:"\n', 1, 10, "f-string: expecting '}'"],
  ['x = f"abc\n', 1, 7, 'unterminated f-string literal'],
  ['x = 1 \\ 2\n', 1, 7, 'unexpected character after line continuation character'],
  ['x = 1\n\\\n', 2, 1, 'unexpected end of the source'],
  ['x = 1 + \\\n', 1, 9, 'unexpected end of the source'],
  ['if a:\n  b\n\\\n    c\n', 4, 5, 'unexpected indent'],
  ['if a:\n  \\\n\nb\n', 4, 1, 'expected an indented block'],
  ['ä = "ü" + (\n', 1, 11, "'(' was never closed"],
  [nested('(', ')', 201), 1, 205, 'too many nested parentheses'],
  [nested('[', ']', 100_000), 1, 205, 'too many nested parentheses'],
  [`x = ${'f"{'.repeat(20_000)}`, 1, 607, 'too many nested parentheses'],
])(
  'case %#: wrong layout is refused with line, column and reason',
  (source, line, column, reason) => {
    expect(() => checkLayout(source)).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        message: expect.stringContaining(`line ${line}, column ${column}: ${reason}`),
        details: expect.objectContaining({ line, column }),
      }),
    )
  },
)

test('100 levels of indentation: the maximum', () => {
  const levels = (n: number) =>
    `${Array.from({ length: n }, (_, i) => `${' '.repeat(i)}if a:\n`).join('')}${' '.repeat(n)}b\n`
  expect(() => checkLayout(levels(99))).not.toThrow()
  expect(() => checkLayout(levels(100))).toThrow('too many levels of indentation')
})

test('refusal: quotes the line, cut if long', () => {
  const shown = (source: string) => {
    try {
      checkLayout(source)
    } catch (error) {
      return (error as { details: { text: string } }).details.text
    }
  }
  expect(shown('a = 1\nb = (2\n')).toBe('b = (2')
  expect(shown(`x = ("${'y'.repeat(1_000_000)}"\n`)).toHaveLength(161)
})
