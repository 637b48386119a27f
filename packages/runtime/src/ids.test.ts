import { expect, test } from 'vitest'
import { newId, parseId } from './ids.ts'

test('ids: 32 hex digits of version 7, in the order of their creation', () => {
  const [early, late] = [newId(1_000), newId(2_000)]
  expect(early).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  expect(early < late).toBe(true)
})

test('more ids than the random bytes that are fetched at once: all different', () => {
  expect(new Set(Array.from({ length: 1_000 }, () => newId(1))).size).toBe(1_000)
})

test.each([
  ['0190aaaabbbb7ccc8dddeeeeffff0000', '0190aaaabbbb7ccc8dddeeeeffff0000'],
  ['0190AAAA-BBBB-7CCC-8DDD-EEEEFFFF0000', '0190aaaabbbb7ccc8dddeeeeffff0000'],
  ['0190aaaabbbb7ccc8dddeeeeffff000', undefined],
  ['0190aaaa-bbbb7ccc-8ddd-eeee-ffff0000', undefined],
  ['0190aaaabbbb7ccc8dddeeeeffff000g', undefined],
  ['', undefined],
  ['../../etc/passwd', undefined],
])('%j as an id: %j', (text, id) => {
  expect(parseId(text)).toBe(id)
})
