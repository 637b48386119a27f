import { createSign, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Defer, withTest } from './defer.ts'

const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const nowS = () => Math.floor(Date.now() / 1_000)

/**
 * Starts an OpenID Connect issuer: discovery, keys, and tokens signed by its key or a foreign one.
 * `published` (the key set) may be changed; `asked` lists the requested paths.
 */
export async function startOidcIssuer(defer: Defer = withTest) {
  const [own, foreign] = [pair(), pair()]
  const asked: string[] = []
  const published: object[] = [
    { ...own.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' },
  ]
  const server = createServer((req, res) => {
    asked.push(req.url ?? '')
    const body = req.url?.startsWith('/.well-known/')
      ? { issuer, jwks_uri: `${issuer}keys` }
      : { keys: published }
    res.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  defer(stop)

  const token = (
    claims: Record<string, unknown>,
    { header = {}, isForged = false }: { header?: object; isForged?: boolean } = {},
  ) => {
    const times = { iat: nowS(), exp: nowS() + 300 }
    const text = `${encode({ alg: 'RS256', kid: 'k1', ...header })}.${encode({ iss: issuer, aud: 'windlass', ...times, ...claims })}`
    const { privateKey } = isForged ? foreign : own
    return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
  }
  return { issuer, token, asked, published, pair: own, stop, nowS }
}
