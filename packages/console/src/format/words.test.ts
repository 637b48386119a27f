import { expect, test } from 'vitest'
import { fieldText, wordsOf } from './words.ts'

test('a text with commas, blanks and line breaks: its words, each once', () => {
  expect(wordsOf(' a, b\nc\ta ,, ')).toEqual(['a', 'b', 'c'])
  expect(wordsOf('')).toEqual([])
})

test('a field of a form: trimmed, and empty if it is absent', () => {
  const fields = new FormData()
  fields.set('name', ' ann ')
  expect([fieldText(fields, 'name'), fieldText(fields, 'other')]).toEqual(['ann', ''])
})
