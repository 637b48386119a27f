import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  type Checkpoint,
  signingInput,
  thumbprintInput,
  verifyCheckpoints,
} from './audit-checkpoint.ts'
import { nodeCrypto } from './audit-signature.ts'

const PKCS8 = '302e020100300506032b657004220420'

/** A key with this seed (hexadecimal), and its tokens. */
function keyOf(seed: string) {
  const pkcs8 = Buffer.from(PKCS8 + seed, 'hex')
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const kid = nodeCrypto.digest(thumbprintInput(x)) as string
  const signed = (input: string) =>
    `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`
  return {
    public: { kid, x, confirmed: true },
    signed,
    token: (changes: Partial<Checkpoint> = {}) => signed(signingInput(kid, { ...SIX, ...changes })),
  }
}

const SIX: Checkpoint = {
  ...{ seq: 6, hash: '07'.repeat(32), at: '2026-01-02T03:04:05.678Z', entries: 6 },
  reason: 'prune',
}
/** The key of RFC 8032 (7.1, test 1), whose thumbprint is in RFC 8037 (A.3). */
const key = keyOf('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60')
const other = keyOf('0'.repeat(64))
const TOKEN =
  'eyJhbGciOiJFZERTQSIsInR5cCI6IndpbmRsYXNzLWF1ZGl0LWNoZWNrcG9pbnQiLCJraWQiOiJrUHJLX3FteFZXYVlWQTl3d0JGNkl1bzN2Vnp6N1R4SENUd1hCeWdyUzRrIn0.eyJzZXEiOjYsImhhc2giOiIwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3IiwiYXQiOiIyMDI2LTAxLTAyVDAzOjA0OjA1LjY3OFoiLCJlbnRyaWVzIjo2LCJyZWFzb24iOiJwcnVuZSJ9.tLteX91WPO3veFwSNTnniI09d8-D18bgPWC5gtwj4wOvcb5OXknhnT8C0yYuyYXTSthYsOmRwiCGHdJXj_0lDg'

const verify = (tokens: string[], keys = [key.public], noted?: string[]) =>
  verifyCheckpoints({ tokens, keys }, nodeCrypto, noted)

test('the token of a checkpoint: that of the documented form', async () => {
  expect(key.public.kid).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
  expect(key.token()).toBe(TOKEN)
  expect(await verify([TOKEN])).toMatchObject({
    ...{ checkpoints: [SIX], kids: [key.public.kid], problems: [] },
  })
})

const partsOf = (token: string) => token.split('.') as [string, string, string]
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const [HEADER, , SIGNATURE] = partsOf(TOKEN)

test.each(['seq', 'hash', 'at', 'entries', 'reason'] as const)(
  'a changed %s: the signature is not valid',
  async (name) => {
    const changes = {
      ...{ seq: 7, hash: '08'.repeat(32), at: '2026-01-02T03:04:05.679Z', entries: 5 },
      reason: 'interval',
    }
    const payload = encode({ ...SIX, [name]: changes[name] })
    const { checkpoints, problems } = await verify([`${HEADER}.${payload}.${SIGNATURE}`])
    expect(checkpoints).toEqual([])
    expect(problems).toEqual([expect.stringMatching(/its signature is not valid$/)])
  },
)

test.each([
  ['no token', 'x'],
  [
    'another algorithm',
    key.signed(`${encode({ alg: 'none', kid: key.public.kid })}.${encode(SIX)}`),
  ],
  [
    'a token for another purpose',
    key.signed(`${encode({ alg: 'EdDSA', typ: 'JWT', kid: key.public.kid })}.${encode(SIX)}`),
  ],
  ['a payload without a hash', key.signed(`${HEADER}.${encode({ ...SIX, hash: '' })}`)],
  ['an unknown reason', key.signed(`${HEADER}.${encode({ ...SIX, reason: 'x' })}`)],
  ['a payload that is not JSON', key.signed(`${HEADER}.e30x`)],
])('%s: cannot be parsed, although the key has signed it', async (_, token) => {
  expect(await verify([TOKEN, token])).toMatchObject({
    checkpoints: [SIX],
    problems: ['checkpoint 2 of the list was changed: it cannot be parsed'],
  })
})

test('a foreign key: named, by what is wrong with it', async () => {
  const subject = `the checkpoint of entry 6 is signed with key ${other.public.kid}`
  const problemsOf = async (...args: Parameters<typeof verify>) => (await verify(...args)).problems
  expect(await problemsOf([other.token()])).toEqual([`${subject}, which the log does not have`])
  const unconfirmed = { ...other.public, confirmed: false }
  expect(await problemsOf([other.token()], [key.public, unconfirmed])).toEqual([
    `${subject}, whose private part identity does not have`,
  ])
  expect(await problemsOf([other.token()], [unconfirmed], [other.public.kid])).toEqual([])
  expect(
    await problemsOf([TOKEN, other.token()], [key.public, other.public], [key.public.kid]),
  ).toEqual([`${subject}, which is not the noted one`])
  const exchanged = { ...key.public, x: other.public.x }
  expect(await problemsOf([TOKEN], [exchanged])).toEqual([
    `key ${key.public.kid} was changed: its id is not that of this key`,
    `the checkpoint of entry 6 is signed with key ${key.public.kid}, which the log does not have`,
  ])
})

test('bytes that are no public key: no signature is valid', () => {
  expect(nodeCrypto.verify('AA', 'text', SIGNATURE)).toBe(false)
})
