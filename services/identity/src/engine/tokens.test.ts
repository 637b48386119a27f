import { expect, test, vi } from 'vitest'
import { equalsHash, hasHash, hashOf, NO_HASH, newSessionToken, sessionPrefixOf } from './tokens.ts'

/** Lengths of the values that were compared in constant time. */
const compared = vi.hoisted((): [number, number][] => [])
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  const timingSafeEqual = (a: Uint8Array, b: Uint8Array) => {
    compared.push([a.length, b.length])
    return crypto.timingSafeEqual(a, b)
  }
  return { ...crypto, timingSafeEqual }
})

test('session token: is prefix, dot and secret, and matches only its own hash', () => {
  const { token, prefix, token_hash } = newSessionToken()

  expect(token.startsWith(`${prefix}.`)).toBe(true)
  expect(sessionPrefixOf(token)).toBe(prefix)
  expect(hasHash(token, token_hash)).toBe(true)
  expect(hasHash(newSessionToken().token, token_hash)).toBe(false)
  expect(hasHash(`${token}x`, token_hash)).toBe(false)
  expect(hasHash('', token_hash)).toBe(false)
})

test('stored prefix and hash: do not contain the secret', () => {
  const { token, prefix, token_hash } = newSessionToken()

  const secret = token.slice(prefix.length + 1)
  expect(secret).toHaveLength(43)
  expect(token_hash).toEqual(hashOf(token))
  expect(token_hash.toString('base64url')).not.toContain(secret)
})

test('malformed session token: has no prefix', () => {
  const { token, prefix } = newSessionToken()

  const others = ['', prefix, `${prefix}.`, ` ${token}`, `${token}\n`, `${token}.x`, 'a.b.c']
  for (const other of others) expect(sessionPrefixOf(other), JSON.stringify(other)).toBeUndefined()
})

test('N034, N043: any token: two hashes of 32 bytes are compared once and completely', () => {
  const { token, token_hash } = newSessionToken()
  const shown = [token, `x${token.slice(1)}`, `${token.slice(0, -1)}!`, '', 'x'.repeat(1_000_000)]
  for (const stored of [token_hash, NO_HASH])
    for (const one of shown) {
      compared.length = 0
      hasHash(one, stored)
      equalsHash(hashOf(one), stored)
      expect(compared).toEqual([
        [32, 32],
        [32, 32],
      ])
    }
})
