import { describe, expect, test } from 'vitest'
import { pythonTokens } from '../lint/lib/python-tokens.ts'
import { scriptTokens } from '../lint/lib/script-tokens.ts'
import { textsOf } from '../lint/lib/texts.ts'
import { applyExceptions, violationsIn } from '../lint/lib/violations.ts'
import { type TextKind, wordsIn } from '../lint/lib/word-list.ts'

const ofType = (tokens: { type: string; text: string }[], type: string) =>
  tokens.filter((token) => token.type === type).map(({ text }) => text)
const textsOfKind = (path: string, source: string, kind: TextKind) =>
  textsOf(path, source)
    .filter((text) => text.kind === kind)
    .map(({ text }) => text.trim())
const groupsIn = (kind: TextKind, text: string) => wordsIn(kind, text).map(({ group }) => group)

describe('tokens of TypeScript', () => {
  test.each([
    ['a comment mark in a string: no comment', `const url = 'http://x' // why`, ['// why']],
    [
      'a comment mark in a template: no comment',
      'const a = `// $' + '{b /* c */} /* d */` /* e */',
      ['/* c */', '/* e */'],
    ],
    ['a quote in a comment: no string', "// it's\nconst a = 1 // b", ["// it's", '// b']],
    [
      'a comment mark in a regular expression: no comment',
      'a.replace(/[/*]\\/\\//g, b) // c',
      ['// c'],
    ],
    ['a division: no regular expression', 'const a = b / c // d / e', ['// d / e']],
    ['a regular expression after return', "return /'/.test(a) // b", ['// b']],
    [
      'a brace inside a substitution: the template continues',
      '`$' + '{f({ a: `}` })}//` // b',
      ['// b'],
    ],
    ['a hashbang: no comment', '#!/usr/bin/env node\n// a', ['// a']],
  ])('%s', (_, source, comments) => {
    expect(ofType(scriptTokens(source), 'comment')).toEqual(comments)
  })

  test('tokens with the white space between them: the whole source', () => {
    const source = 'export const a = (b) => `x$' + "{b ?? /[`]/}y` + 'z' // end\n"
    const tokens = scriptTokens(source)
    for (const { text, at } of tokens) expect(source.slice(at, at + text.length)).toBe(text)
    expect(tokens.map(({ text }) => text).join('')).toBe(source.replace(/ (?!end)|\n/g, ''))
  })
})

describe('tokens of Python', () => {
  test.each([
    ['a hash in a string: no comment', 'a = "#" # b', ['# b']],
    ['a quote in a comment: no string', "# it's\na = 1  # b", ["# it's", '# b']],
    ['a hash in a doc string: no comment', '"""a\n# b\n"""\n# c', ['# c']],
    ['an escaped quote: the string continues', String.raw`a = 'b\'# c' # d`, ['# d']],
    ['a raw string', String.raw`a = r"\d#" # b`, ['# b']],
  ])('%s', (_, source, comments) => {
    expect(ofType(pythonTokens(source), 'comment')).toEqual(comments)
  })
})

describe('texts of a file', () => {
  test('TypeScript: comments, doc comments, titles and messages, each once', () => {
    const source = `/** A doc. */
      // first line
      // second line
      const a = 'a value'
      log.warn({ name }, 'failed to read')
      throw new Fault('invalid', \`field \${name} is missing\`)
      const problem = { loc: [], msg: 'not a number' }
      test.each([['a case', 1]])('title %s', () => {})
      test('other', () => { const b = 'b value' })`
    const kinds = textsOf('src/a.test.ts', source)
      .filter(({ kind }) => kind !== 'code')
      .map(({ kind, text }) => [kind, text.replace(/\s+/g, ' ').trim()])
    expect(kinds).toEqual([
      ['doc', '/** A doc. */'],
      ['comment', '// first line // second line'],
      ['message', 'failed to read'],
      ['message', 'invalid'],
      ['message', 'field'],
      ['message', 'is missing'],
      ['message', 'not a number'],
      ['title', 'a case'],
      ['test', 'title %s'],
      ['test', 'other'],
    ])
  })

  test('rows of a table: the first string is a title in tests only', () => {
    const source = "const rows = [['N091 an empty body', 422], ['two words', 200]]"
    expect(textsOfKind('tests/rows.ts', source, 'title')).toEqual([
      'N091 an empty body',
      'two words',
    ])
    expect(textsOfKind('src/rows.ts', source, 'title')).toEqual([])
  })

  test('Python: doc strings, comments, messages and names of tests', () => {
    const source = `"""A module."""
# why
def test_a_thing():
    """A test."""
    log.info("lost %s", f(a["key"]))
    raise ValueError("bad value")
    return "a value"
`
    expect(textsOfKind('a.py', source, 'doc')).toEqual(['A module.', 'A test.'])
    expect(textsOfKind('a.py', source, 'comment')).toEqual(['# why'])
    expect(textsOfKind('a.py', source, 'title')).toEqual(['a thing'])
    expect(textsOfKind('a.py', source, 'message')).toEqual(['lost %s', 'key', 'bad value'])
  })

  test.each([
    ['a.proto', 'string a = 1 [b = "// c"]; // d\n/* e */', ['// d', '/* e */']],
    ['a.sql', "select '--a' -- b\n/* c */", ['-- b', '/* c */']],
    ['a.sh', `echo "# a" '# b' $# # c`, ['# c']],
    ['a.toml', 'a = "#b" # c', ['# c']],
    ['Dockerfile', '# a\nRUN b', ['# a']],
  ])('%s: comments outside of strings', (path, source, comments) => {
    expect(textsOfKind(path, source, 'comment')).toEqual(comments)
  })
})

describe('patterns', () => {
  test.each<[group: string, kind: TextKind, text: string]>([
    ['persons', 'comment', 'Nobody waits'],
    ['pronouns', 'message', 'ask him'],
    ['messages', 'doc', 'the caller is told'],
    ['idioms', 'document', 'decided by itself'],
    ['pictures', 'title', 'two doors'],
    ['mechanism', 'comment', 'replaces the epoch'],
    ['clause', 'doc', 'Whether it runs'],
    ['title', 'title', 'E1, E2: what was acknowledged is kept'],
    ['form', 'test', 'an acknowledged write is kept'],
    ['form', 'test', 'refuses %s'],
    ['commit', 'commit', 'gateway: who still sends is not hung up on'],
    ['bag', 'code', 'interface Leasing {'],
    ['verb', 'code', 'export async function locked('],
  ])('%s: found', (group, kind, text) => {
    expect(groupsIn(kind, text)).toContain(group)
  })

  test.each<[kind: TextKind, text: string]>([
    ['document', 'asks for a standing grant'],
    ['comment', 'asyncio.gather and epoch:auth'],
    ['doc', 'Returns what was read'],
    ['title', 'E1: an acknowledged write is kept'],
    ['test', 'acknowledged write: kept'],
    ['test', ' %s %j '],
    ['test', '$name'],
    ['commit', 'gateway, tests: reject foreign origins before routing'],
    ['code', 'interface Routing {}'],
    ['code', 'const nobody = 1'],
    ['comment', 'the doormat, outdoors, mushroom'],
  ])('%s "%s": nothing', (kind, text) => {
    expect(wordsIn(kind, text)).toEqual([])
  })
})

describe('violations', () => {
  test('a phrase over two lines: found, at the line where it begins', () => {
    const source = 'const a = 1\n// ends by\n// itself\n'
    expect(violationsIn('a.ts', source)).toEqual([
      { file: 'a.ts', line: 2, group: 'idioms', word: 'by itself', text: '// ends by' },
    ])
  })

  test('a phrase in two unrelated comments: not found', () => {
    expect(violationsIn('a.ts', 'a() // ends by\nb()\n// itself')).toEqual([])
  })

  test('a doc comment over several lines: its first word is checked', () => {
    expect(violationsIn('a.ts', '/**\n * Whether it runs.\n */')).toMatchObject([
      { line: 2, group: 'clause' },
    ])
  })

  test('an exception: covers its word on its line only, and is reported when unused', () => {
    const found = violationsIn('a.md', 'a door, nobody\na door\n')
    const used = { file: 'a.md', group: 'pictures', text: 'a door, nobody', reason: 'x' }
    const unused = { ...used, file: 'b.md' }
    const { left, unused: reported } = applyExceptions(found, [used, unused])
    expect(left.map(({ line, word }) => [line, word])).toEqual([
      [1, 'nobody'],
      [2, 'door'],
    ])
    expect(reported).toEqual([unused])
  })
})
