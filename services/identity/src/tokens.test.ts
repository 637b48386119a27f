import { expect, test } from 'vitest'
import { hashOf, matches, newSessionToken, prefixOf } from './tokens.ts'

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
