import { createSign, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Starts an OpenID Connect issuer with one 2048-bit RSA key. */
export async function startIssuer() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }
  const server = createServer((req, res) => {
    const body = req.url === '/keys' ? { keys: [jwk] } : { issuer: url, jwks_uri: `${url}keys` }
    res.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/`
  const token = (sub, aud) => {
    const now = Math.floor(Date.now() / 1_000)
    const claims = { iss: url, aud, sub, iat: now, exp: now + 3_600 }
    const text = `${encode({ alg: 'RS256', kid: 'k1' })}.${encode(claims)}`
    return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
  }
  return { url, token, stop: () => server.close() }
}
