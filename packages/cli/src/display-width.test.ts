import { expect, test } from 'vitest'
import { displayWidth, padToWidth } from './display-width.ts'
import { formatColumns } from './help.ts'

test.each([
  ['', 0],
  ['abc', 3],
  ['über', 4],
  ['u\u0308ber', 4],
  ['a\u200bb', 2],
  ['日本', 4],
  ['ｆｕｌｌ', 8],
  ['한', 2],
  ['🚀x', 3],
  ['𠀀', 2],
])('%j: needs %i columns', (text, width) => {
  expect(displayWidth(text)).toBe(width)
})

test('padding: up to the width, never cut', () => {
  expect(padToWidth('日本', 6)).toBe('日本  ')
  expect(padToWidth('abc', 2)).toBe('abc')
})

test('a table with wide characters: its columns are aligned on a terminal', () => {
  const lines = formatColumns([
    ['NAME', 'STATE'],
    ['日本', 'on'],
    ['a', 'off'],
  ]).split('\n')
  expect(lines).toEqual(['  NAME  STATE', '  日本  on', '  a     off'])
})
