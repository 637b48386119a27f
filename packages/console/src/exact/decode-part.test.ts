import { expect, test } from 'vitest'
import { decodePart } from './decode-part.ts'

const PART = 8

/** The parts of a text, read as ranges that extend beyond their part. */
function partsOf(text: string): string[] {
  const bytes = new TextEncoder().encode(text)
  return Array.from({ length: Math.ceil(bytes.length / PART) }, (_, i) =>
    decodePart(bytes.subarray(i * PART, (i + 1) * PART + 4), i === 0, PART),
  )
}

test.each([
  'plain text of some length',
  'ü'.repeat(40),
  `x${'ü'.repeat(40)}`,
  '日本語'.repeat(9),
  `ab${'😀'.repeat(20)}`,
  '\ufeff{"a":1}',
  '',
])('%j in parts: joined they are the text, and no character is cut', (text) => {
  const parts = partsOf(text)
  expect(parts.join('')).toBe(text)
  expect(parts.join('')).not.toContain('\ufffd')
})
