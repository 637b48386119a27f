import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { expiresIn, Signer } from './signed.ts'

const signer = new Signer<{ sub: string }>('a secret', 'test')
const text = signer.sign({ sub: 'ada', exp: expiresIn(60) })
const [header = '', body = '', tag = ''] = text.split('.')
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('a signed token: verifies until its end', () => {
  expect(signer.verify(text)).toMatchObject({ sub: 'ada' })
  expect(signer.verify(text, Date.now() + 61_000)).toBeUndefined()
})

const claims = encode({ sub: 'root', exp: expiresIn(60) })
const signed = (secret: string | Buffer, text: string) =>
  `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`

/** The next letter of the alphabet: at the end of a signature it differs in bits that stand for nothing. */
function neighbourOf(letter: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet[alphabet.indexOf(letter) ^ 1] ?? ''
}

test.each([
  ['nothing', ''],
  ['no JWT', 'abc'],
  ['dots', '..'],
  ['other claims under the same signature', `${header}.${claims}.${tag}`],
  ['no signature', `${header}.${body}.`],
  ['a cut signature', `${header}.${body}.${tag.slice(0, -4)}`],
  ['a padded signature', `${text}=`],
  ['a signature with a line end', `${text}\n`],
  ['another spelling of the signature', text.slice(0, -1) + neighbourOf(text.slice(-1))],
  ['the algorithm none', `${encode({ alg: 'none', typ: 'JWT' })}.${claims}.`],
  ['an empty secret', signed('', `${header}.${claims}`)],
  ['the bare secret', signed('a secret', `${header}.${claims}`)],
  [
    'another secret',
    new Signer<{ sub: string }>('b', 'test').sign({ sub: 'a', exp: expiresIn(9) }),
  ],
  [
    'another purpose',
    new Signer<{ sub: string }>('a secret', 'other').sign({ sub: 'a', exp: expiresIn(9) }),
  ],
])('%s: refused', (_, forged) => expect(signer.verify(forged)).toBeUndefined())
