import { CLIENT, type LateServer, lateServer } from '@windlass/testkit/oidc-provider'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { expect, test } from 'vitest'
import { browse, OF_CONSOLE, startOidcGateway } from './sign-in-fixture.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>

/** Serves an issuer whose token endpoint answers the ID token of `issue`. */
async function serveIssuer(
  { url, serve }: LateServer,
  keys: Keys,
  issue: () => Promise<string>,
): Promise<void> {
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }
  const answers: Record<string, () => Promise<unknown>> = {
    '/.well-known/openid-configuration': async () => ({
      ...{ issuer: url, jwks_uri: `${url}/jwks`, token_endpoint: `${url}/token` },
      authorization_endpoint: `${url}/auth`,
    }),
    '/jwks': async () => ({ keys: [jwk] }),
    '/token': async () => ({
      ...{ access_token: 'a', token_type: 'Bearer', id_token: await issue() },
    }),
  }
  serve(async (req, res) => {
    const answer = answers[req.url ?? '']
    if (!answer) return void res.writeHead(404).end()
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(await answer()))
  })
}

interface Forged {
  claims?: JWTPayload
  header?: { alg: string; kid?: string }
  /** Signs with a key that the issuer does not publish. */
  isOtherKey?: boolean
}

const CASES: [what: string, forged: Forged, isSignedIn?: boolean][] = [
  ['the token of the flow', {}, true],
  ['a nonce of another flow', { claims: { nonce: 'another' } }],
  ['no nonce', { claims: { nonce: undefined } }],
  ['another client as audience', { claims: { aud: 'another' } }],
  ['several audiences, issued to another', { claims: { aud: [CLIENT.client_id, 'b'], azp: 'b' } }],
  ['another issuer', { claims: { iss: 'https://evil.example' } }],
  ['a token that has expired', { claims: { exp: 1_000 } }],
  ['no subject', { claims: { sub: undefined } }],
  ['a subject that cannot be stored', { claims: { sub: 'a\0b' } }],
  ['a claim that is required and absent', { claims: { email_verified: undefined } }],
  ['a key that the issuer does not have', { isOtherKey: true }],
  ['no signature', { header: { alg: 'none' } }],
  ['a signature with the secret of the client', { header: { alg: 'HS256', kid: 'k' } }],
]

test('ID tokens that are not of the flow: no session', { timeout: 120_000 }, async () => {
  const server = await lateServer()
  const { url } = await startOidcGateway(server.url, {
    env: { SVC_SECURITY__AUTH__OIDC__REQUIRED_CLAIMS: 'email_verified=true' },
  })
  const keys = await generateKeyPair('RS256', { extractable: true })
  const others = await generateKeyPair('RS256')
  await serveIssuer(server, keys, async () => '')
  for (const [what, { claims, header, isOtherKey }, isSignedIn = false] of CASES) {
    const browser = browse()
    const started = await browser.visit(`${url}/console/oidc/start`)
    const location = new URL(started.headers.get('location') ?? 'http://none')
    const nonce = location.searchParams.get('nonce') ?? ''
    const base = { iss: server.url, sub: 'ann', aud: CLIENT.client_id, nonce, email_verified: true }
    const now = Math.floor(Date.now() / 1_000)
    const payload = { iat: now, exp: now + 60, ...base, ...claims }
    const sign = async (): Promise<string> => {
      const { alg = 'RS256', kid = 'k' } = header ?? {}
      if (alg === 'none') return new UnsecuredJWT(payload).encode()
      const secret = new TextEncoder().encode(CLIENT.client_secret.padEnd(32, ' '))
      const key = alg === 'HS256' ? secret : (isOtherKey ? others : keys).privateKey
      return new SignJWT(payload).setProtectedHeader({ alg, kid }).sign(key)
    }
    await serveIssuer(server, keys, sign)
    const state = location.searchParams.get('state') ?? ''
    const at = `${url}/console/oidc/callback?code=c&state=${state}`
    const ended = (await browser.visit(at)).headers.get('location')
    expect([what, ended]).toEqual([what, isSignedIn ? '../' : '../?sign_in=refused'])
    const { status } = await browser.visit(`${url}/me`, OF_CONSOLE)
    expect([what, status]).toEqual([what, isSignedIn ? 200 : 401])
  }
})
