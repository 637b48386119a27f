import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { encodeSecret, mayBeGenuine, RANDOM_BYTES } from './token-checksum.ts'

const PREFIX = 'wk_0123456789abcdef'
const newToken = () => `${PREFIX}.${encodeSecret(PREFIX, randomBytes(RANDOM_BYTES))}`

test('token with a checksum: has the form of earlier releases and may be genuine', () => {
  for (let i = 0; i < 200; i++) {
    const token = newToken()
    expect(token).toMatch(/^wk_[0-9a-f]{16}\.[A-Za-z0-9_-]{43}$/)
    expect(mayBeGenuine(token)).toBe(true)
  }
})

test('one changed character, or another prefix: recognized as made up', () => {
  const token = newToken()
  const at = PREFIX.length + 1
  for (let i = at; i < token.length - 1; i++) {
    const other = token[i] === 'A' ? 'B' : 'A'
    expect(mayBeGenuine(token.slice(0, i) + other + token.slice(i + 1))).toBe(false)
  }
  expect(mayBeGenuine(token.replace('0123', '3210'))).toBe(false)
})

test('token of an earlier release, without a checksum: may be genuine', () => {
  for (let i = 0; i < 200; i++)
    expect(mayBeGenuine(`${PREFIX}.${randomBytes(32).toString('base64url')}`)).toBe(true)
})
