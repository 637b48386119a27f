import {
  constants,
  createHmac,
  createSign,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import type { AuthSystem } from './auth-system.ts'

type Idp = AuthSystem['idp']

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

const foreignKeys = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')

/** Publishes keys of other algorithms at the issuer, so that tokens signed with them are genuine. */
export function publishOtherKeys({ published, pair }: Idp): void {
  const jwk = (key: KeyObject, kid: string) => ({
    ...key.export({ format: 'jwk' }),
    kid,
    use: 'sig',
  })
  published.push(
    jwk(pair.publicKey, 'RS384'),
    jwk(pair.publicKey, 'PS256'),
    jwk(ec.publicKey, 'ES256'),
    jwk(ed.publicKey, 'EdDSA'),
  )
}

const SIGNERS: Record<string, (text: string, key: KeyObject) => Buffer> = {
  RS256: (text, key) => createSign('RSA-SHA256').update(text).sign(key),
  RS384: (text, key) => createSign('RSA-SHA384').update(text).sign(key),
  PS256: (text, key) =>
    sign('sha256', Buffer.from(text), {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: 32,
    }),
  ES256: (text) =>
    sign('sha256', Buffer.from(text), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
  EdDSA: (text) => sign(null, Buffer.from(text), ed.privateKey),
}

const claimsOf = ({ issuer, nowS }: Idp, claims: object) => ({
  iss: issuer,
  aud: 'windlass',
  sub: 'ann',
  iat: nowS(),
  exp: nowS() + 300,
  ...claims,
})

interface TokenSpec {
  header?: object
  claims?: object
  /** Signing key instead of the issuer's. */
  key?: KeyObject
}

/** Issues a valid token for `ann`, changed by `header`, `claims` and `key`. */
export function issueToken(
  idp: Idp,
  alg: string,
  { header = {}, claims = {}, key }: TokenSpec = {},
): string {
  const text = `${encode({ alg, kid: 'k1', ...header })}.${encode(claimsOf(idp, claims))}`
  const signer = SIGNERS[alg] ?? SIGNERS.RS256
  return `${text}.${signer?.(text, key ?? idp.pair.privateKey).toString('base64url')}`
}

export const attackerKeys = foreignKeys

/** Issues an HS256 token whose shared secret is the issuer's public key (algorithm confusion). */
export function hmacToken(idp: Idp, secret: string | Buffer): string {
  const text = `${encode({ alg: 'HS256', kid: 'k1' })}.${encode(claimsOf(idp, {}))}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

export const unsignedToken = (idp: Idp, alg: string, signature = '') =>
  `${encode({ alg, kid: 'k1' })}.${encode(claimsOf(idp, {}))}.${signature}`

/** Changes the last character of the signature, not its value: base64url leaves bits of it unused. */
export function equivalentEncoding(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const at = alphabet.indexOf(token.at(-1) ?? '')
  return token.slice(0, -1) + alphabet[at ^ 1]
}
