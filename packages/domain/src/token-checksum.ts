/*
 * Secret part of API keys and session tokens: 43 characters of base64url, of which the last 32 bits of
 * 256 are a checksum. A text that was typed wrong, cut or made up is recognized without a lookup.
 *
 * 43 characters hold 258 bits. Decoders ignore the two spare ones, which encoders write as 00; here 01
 * marks a secret with a checksum. So the form is the one of earlier releases, whose replicas accept
 * these tokens, and whose tokens, marked 00, remain valid without a checksum. The stored hash covers
 * the text, so no other spelling of a token is accepted.
 *
 * The checksum has no key and proves nothing: tokens that pass it are looked up.
 */
import { createHash } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const CHECKSUM_BYTES = 4
const MARK = 1
const SPARE_BITS = 3

/** Number of random bytes of a secret. */
export const RANDOM_BYTES = 28

/** Encodes 28 random bytes and their checksum, which covers the prefix of the token too. */
export function encodeSecret(prefix: string, random: Uint8Array): string {
  const text = Buffer.concat([random, checksumOf(prefix, random)]).toString('base64url')
  return text.slice(0, -1) + ALPHABET[lastValueOf(text) | MARK]
}

/** True unless the secret of a token `<prefix>.<secret>` has a checksum that does not match. */
export function mayBeGenuine(token: string): boolean {
  const [prefix = '', text = ''] = token.split('.', 2)
  if ((lastValueOf(text) & SPARE_BITS) !== MARK) return true
  const bytes = Buffer.from(text, 'base64url')
  const random = bytes.subarray(0, RANDOM_BYTES)
  return checksumOf(prefix, random).equals(bytes.subarray(RANDOM_BYTES))
}

const lastValueOf = (text: string) => ALPHABET.indexOf(text.at(-1) ?? '')

const checksumOf = (prefix: string, random: Uint8Array): Buffer =>
  createHash('sha256').update(`${prefix}.`).update(random).digest().subarray(0, CHECKSUM_BYTES)
