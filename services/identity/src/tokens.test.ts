import { expect, test, vi } from 'vitest'
import { hashOf, isHash, matches, NO_HASH, newSessionToken, prefixOf } from './tokens.ts'

/** The lengths of what was compared in constant time. */
const compared = vi.hoisted((): [number, number][] => [])
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  const timingSafeEqual = (a: Uint8Array, b: Uint8Array) => {
    compared.push([a.length, b.length])
    return crypto.timingSafeEqual(a, b)
  }
  return { ...crypto, timingSafeEqual }
})

test('a session token is its prefix, a dot and a secret, and matches its own hash alone', () => {
  const { token, prefix, token_hash } = newSessionToken()

  expect(token.startsWith(`${prefix}.`)).toBe(true)
  expect(prefixOf(token)).toBe(prefix)
  expect(matches(token, token_hash)).toBe(true)
  expect(matches(newSessionToken().token, token_hash)).toBe(false)
  expect(matches(`${token}x`, token_hash)).toBe(false)
  expect(matches('', token_hash)).toBe(false)
})

test('the secret cannot be found in what is stored', () => {
  const { token, prefix, token_hash } = newSessionToken()

  const secret = token.slice(prefix.length + 1)
  expect(secret).toHaveLength(43)
  expect(token_hash).toEqual(hashOf(token))
  expect(token_hash.toString('base64url')).not.toContain(secret)
})

test('what is no session token has no prefix', () => {
  const { token, prefix } = newSessionToken()

  const others = ['', prefix, `${prefix}.`, ` ${token}`, `${token}\n`, `${token}.x`, 'a.b.c']
  for (const other of others) expect(prefixOf(other), JSON.stringify(other)).toBeUndefined()
})

test('N034, N043: whatever is shown, two hashes of 32 bytes are compared, once and to their ends', () => {
  const { token, token_hash } = newSessionToken()
  const shown = [token, `x${token.slice(1)}`, `${token.slice(0, -1)}!`, '', 'x'.repeat(1_000_000)]
  for (const stored of [token_hash, NO_HASH])
    for (const one of shown) {
      compared.length = 0
      matches(one, stored)
      isHash(hashOf(one), stored)
      expect(compared).toEqual([
        [32, 32],
        [32, 32],
      ])
    }
})
