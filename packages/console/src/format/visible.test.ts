import { expect, test } from 'vitest'
import { visibleParts } from './visible.ts'

const shown = (text: string) =>
  visibleParts(text)
    .map((part) => (part.isMark ? `[${part.text}]` : part.text))
    .join('')

test('a text with tabs and line breaks: one part as it is', () => {
  expect(visibleParts('a\tb\nc é 日本')).toEqual([{ text: 'a\tb\nc é 日本', isMark: false }])
  expect(visibleParts('')).toEqual([])
})

test.each([
  ['\u001b[31mred\u001b[0m', '[␛][31mred[␛][0m'],
  ['a\u202egpj.exe', 'a[U+202E]gpj.exe'],
  ['\u2066x\u2069\u200b', '[U+2066]x[U+2069][U+200B]'],
  ['100 %\rhidden\u0000\u007f\u0085', '100 %[␍]hidden[␀][␡][U+0085]'],
])('%j: its controls have a sign', (text, expected) => {
  expect(shown(text)).toBe(expected)
})
