import { b1, b2, b3, b4, b5, type Case, unknownPrincipal } from './cases.ts'
import { attackerKeys, equivalentEncoding, hmacToken, issueToken, unsignedToken } from './forged-tokens.ts'

const bearer = (authorization: string) => () => ({ headers: { authorization } })
const PEM = { type: 'spki', format: 'pem' } as const

/** Missing and malformed credentials. The request is `GET /admin/roles`. */
export const credentialCases: Case[] = [
  ['N001: no header', () => ({}), b1],
  ['N002: Basic', bearer('Basic dTpw'), b2],
  ['N002: Token', bearer('Token x'), b2],
  ['N002: bearer in lower case', bearer('bearer x'), b4],
  ['N003: Bearer without a token', bearer('Bearer'), b2],
  ['N003: Bearer with blanks', bearer('Bearer    '), b2],
  ['N003: Bearer with a tab', bearer('Bearer\t'), b2],
  ['N005: token in a cookie', ({ admin }) => ({ headers: { cookie: `token=${admin}` } }), b1],
  ['N033: key with an unknown prefix', () => ({ token: `wk_${'0'.repeat(16)}.${'A'.repeat(43)}` }), b3],
  ['N033: key with the prefix of one and the secret of another', async (h) => ({ token: (await h.keyWith(['a:b'])).slice(0, 20) + h.admin.slice(20) }), b3],
  ['N033: key with one wrong character', ({ admin }) => ({ token: admin.slice(0, -1) + (admin.endsWith('A') ? 'B' : 'A') }), b3],
  ['N033: key one character short', ({ admin }) => ({ token: admin.slice(0, -1) }), b4],
  ['N033: key in upper case', ({ admin }) => ({ token: admin.toUpperCase() }), b4],
  ['N033: key prefix without the secret', ({ admin }) => ({ token: admin.slice(0, 19) }), b4],
  ['N033: token larger than the header limit', () => ({ token: 'x'.repeat(20_000) }), 431],
  ['N041: bootstrap token as a bearer token', async (h) => ({ token: await h.system.bootstrapToken() }), b4],
]

/** Tokens of the OIDC issuer. `ann` is known and may read roles; `bob` is disabled. */
export const oidcCases: Case[] = [
  ['valid token', ({ idp }) => ({ token: issueToken(idp, 'RS256') }), 200],
  ...['none', 'None', 'nOnE'].map((alg): Case => [`N006: alg ${alg}`, ({ idp }) => ({ token: unsignedToken(idp, alg) }), b4]),
  ['N006: no signature', ({ idp }) => ({ token: unsignedToken(idp, 'RS256') }), b4],
  ['N006: alg none with a signature', ({ idp }) => ({ token: unsignedToken(idp, 'none', 'eA') }), b4],
  ['N007: HS256 with the PEM', ({ idp }) => ({ token: hmacToken(idp, idp.pair.publicKey.export(PEM)) }), b4],
  ['N007: HS256 with the PEM, trimmed', ({ idp }) => ({ token: hmacToken(idp, idp.pair.publicKey.export(PEM).toString().trim()) }), b4],
  ['N007: HS256 with the DER', ({ idp }) => ({ token: hmacToken(idp, idp.pair.publicKey.export({ type: 'spki', format: 'der' })) }), b4],
  ['N007: HS256 with the modulus', ({ idp }) => ({ token: hmacToken(idp, String(idp.pair.publicKey.export({ format: 'jwk' }).n)) }), b4],
  ...['RS384', 'PS256', 'ES256', 'EdDSA'].map((alg): Case => [`N008: ${alg}, genuine`, ({ idp }) => ({ token: issueToken(idp, alg, { header: { kid: alg } }) }), b4]),
  ['N009: an unknown kid', ({ idp }) => ({ token: issueToken(idp, 'RS256', { header: { kid: 'k9' } }) }), b4],
  ...['../../../../dev/null', "' UNION SELECT 'x'--", 'x'.repeat(8_000), '\0', ['k1']].map((kid): Case => [`N010: kid ${JSON.stringify(kid).slice(0, 30)}`, ({ idp }) => ({ token: issueToken(idp, 'RS256', { header: { kid } }) }), b4]),
  [
    'N011: embedded jwk',
    ({ idp }) => ({
      token: issueToken(idp, 'RS256', {
        header: { kid: undefined, jwk: attackerKeys.publicKey.export({ format: 'jwk' }) },
        key: attackerKeys.privateKey,
      }),
    }),
    b4,
  ],
  ['N011: foreign key under a known kid', ({ idp }) => ({ token: issueToken(idp, 'RS256', { key: attackerKeys.privateKey }) }), b4],
  [
    'N012: jku',
    ({ idp }) => ({
      token: issueToken(idp, 'RS256', { header: { kid: 'k9', jku: `${idp.issuer}elsewhere` } }),
    }),
    b4,
  ],
  [
    'N012: x5u',
    ({ idp }) => ({
      token: issueToken(idp, 'RS256', { header: { kid: 'k9', x5u: `${idp.issuer}elsewhere` } }),
    }),
    b4,
  ],
  ['N013: crit', ({ idp }) => ({ token: issueToken(idp, 'RS256', { header: { crit: ['exp2'], exp2: 1 } }) }), b4],
  ['N013: b64 false', ({ idp }) => ({ token: issueToken(idp, 'RS256', { header: { b64: false, crit: ['b64'] } }) }), b4],
  ['N013: five parts', ({ idp }) => ({ token: `${issueToken(idp, 'RS256')}.a.b` }), b4],
  ['N013: JSON', () => ({ token: '{"payload":"e30","signatures":[]}' }), b4],
  ['N013: typ at+jwt (RFC 9068)', ({ idp }) => ({ token: issueToken(idp, 'RS256', { header: { typ: 'at+jwt' } }) }), 200],
  ['N014: iss without the trailing slash', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { iss: idp.issuer.slice(0, -1) } }) }), b4],
  ['N014: iss with two slashes', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { iss: `${idp.issuer}/` } }) }), b4],
  ['N014: iss in upper case', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { iss: idp.issuer.toUpperCase() } }) }), b4],
  ['N014: iss with a suffix', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { iss: `${idp.issuer}x` } }) }), b4],
  ['N014: iss as a list', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { iss: [idp.issuer] } }) }), b4],
  ['N014: no iss', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { iss: undefined } }) }), b4],
  ...['other', 'windlass2', '', undefined, ['other'], []].map((aud): Case => [`N015: aud ${JSON.stringify(aud)}`, ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { aud } }) }), b4]),
  ['N015: aud list with the audience', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { aud: ['other', 'windlass'] } }) }), 200],
  ['N016: exp 25 s ago', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { exp: idp.nowS() - 25 } }) }), 200],
  ['N016: exp 31 s ago', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { exp: idp.nowS() - 31 } }) }), b4],
  ...[undefined, null, '9999999999', -1, 0, 1e300].map((exp): Case => [`N016: exp ${JSON.stringify(exp)}`, ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { exp } }) }), b4]),
  [
    'N016: exp in eleven years',
    ({ idp }) => ({
      token: issueToken(idp, 'RS256', { claims: { exp: idp.nowS() + 11 * 366 * 86_400 } }),
    }),
    b4,
  ],
  ['N017: nbf in 20 s', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { nbf: idp.nowS() + 20 } }) }), 200],
  ['N017: nbf in 60 s', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { nbf: idp.nowS() + 60 } }) }), b4],
  ['N017: iat in an hour', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { iat: idp.nowS() + 3_600 } }) }), 200],
  ...[undefined, '', 123, null, ['ann'], 'ann\0', 'ann\n', 'x'.repeat(256)].map((sub): Case => [`N018: sub ${JSON.stringify(sub)?.slice(0, 20)}`, ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { sub } }) }), b4]),
  ['N018: sub larger than the header limit', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { sub: 'x'.repeat(20_000) } }) }), 431],
  ['N020: unknown subject', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { sub: 'eve' } }) }), unknownPrincipal],
  ['N022: subject of a service account', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { sub: 'root' } }) }), unknownPrincipal],
  ['N023: subject in another case', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { sub: 'Ann' } }) }), unknownPrincipal],
  ['N023: subject with a trailing blank', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { sub: 'ann ' } }) }), unknownPrincipal],
  ['N024: disabled user', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { sub: 'bob' } }) }), b3],
  ['N025: disabled user, equivalent encoding of the token', ({ idp }) => ({ token: equivalentEncoding(issueToken(idp, 'RS256', { claims: { sub: 'bob' } })) }), b3],
  ['N049: iss of execution tokens', ({ idp }) => ({ token: issueToken(idp, 'RS256', { claims: { iss: 'windlass-execution' } }) }), b4],
]

/** Credentials in the wrong place, and claims that grant nothing. */
export const accessCases: Case[] = [
  ['N005: token in the query', ({ admin }) => ({ what: `GET /admin/roles?access_token=${admin}` }), b1],
  ['N005: token in the body', ({ admin }) => ({ what: 'POST /auth/test-token', body: { token: admin } }), b1],
  ['N041: registration with an API key', ({ admin }) => ({ what: 'POST /workers/register', token: admin, body: {} }), [403, { detail: 'Invalid bootstrap token.' }]],
  ['N041: registration with an OIDC token', ({ idp }) => ({ what: 'POST /workers/register', token: issueToken(idp, 'RS256'), body: {} }), [403, { detail: 'Invalid bootstrap token.' }]],
  ['N042: registration without a header', () => ({ what: 'POST /workers/register', body: {} }), [401, { detail: 'Authorization header missing' }]],
  ['N042: bootstrap token of another length', () => ({ what: 'POST /workers/register', token: 'x', body: {} }), [403, { detail: 'Invalid bootstrap token.' }]],
  ['N042: bootstrap token of 10,000 characters', () => ({ what: 'POST /workers/register', token: 'x'.repeat(10_000), body: {} }), [403, { detail: 'Invalid bootstrap token.' }]],
  [
    'N019: roles and permissions as claims',
    ({ idp }) => ({
      what: 'GET /admin/secrets',
      token: issueToken(idp, 'RS256', {
        claims: {
          roles: ['admin'],
          permissions: ['*'],
          realm_access: { roles: ['admin'] },
          azp: 'admin',
        },
      }),
    }),
    b5('admin:secrets:read'),
  ],
]
