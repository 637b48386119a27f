import { attacker, forge, hmac, twin, unsigned } from './forge.ts'
import { b1, b2, b3, b4, b5, type Row, unknownPrincipal } from './rows.ts'

const bearer = (authorization: string) => () => ({ headers: { authorization } })
const PEM = { type: 'spki', format: 'pem' } as const

/** Without a credential, or with one that is none. The request is `GET /admin/roles`. */
export const credentialRows: Row[] = [
  ['N001 no header', () => ({}), b1],
  ['N002 Basic', bearer('Basic dTpw'), b2],
  ['N002 Token', bearer('Token x'), b2],
  ['N002 bearer in small letters', bearer('bearer x'), b2],
  ['N003 Bearer and nothing', bearer('Bearer'), b2],
  ['N003 Bearer and blanks', bearer('Bearer    '), b2],
  ['N003 Bearer and a tab', bearer('Bearer\t'), b2],
  ['N005 in a cookie', ({ admin }) => ({ headers: { cookie: `token=${admin}` } }), b1],
  ['N033 an unknown prefix', () => ({ token: `wk_${'0'.repeat(16)}.${'A'.repeat(43)}` }), b3],
  ['N033 the prefix of one, the secret of another', async (h) => ({ token: (await h.holding(['a:b'])).slice(0, 20) + h.admin.slice(20) }), b3],
  ['N033 one character off', ({ admin }) => ({ token: admin.slice(0, -1) + (admin.endsWith('A') ? 'B' : 'A') }), b3],
  ['N033 one character short', ({ admin }) => ({ token: admin.slice(0, -1) }), b4],
  ['N033 in capitals', ({ admin }) => ({ token: admin.toUpperCase() }), b4],
  ['N033 the prefix alone', ({ admin }) => ({ token: admin.slice(0, 19) }), b4],
  ['N033 more than headers may hold', () => ({ token: 'x'.repeat(20_000) }), 431],
  ['N041 the bootstrap token', async (h) => ({ token: await h.system.bootstrapToken() }), b4],
]

/** Tokens of an issuer. `ann` is known and may read roles; `bob` is disabled. */
export const oidcRows: Row[] = [
  ['a good one', ({ idp }) => ({ token: forge(idp, 'RS256') }), 200],
  ...['none', 'None', 'nOnE'].map((alg): Row => [`N006 alg ${alg}`, ({ idp }) => ({ token: unsigned(idp, alg) }), b4]),
  ['N006 no signature', ({ idp }) => ({ token: unsigned(idp, 'RS256') }), b4],
  ['N006 alg none with a signature', ({ idp }) => ({ token: unsigned(idp, 'none', 'eA') }), b4],
  ['N007 HS256 with the PEM', ({ idp }) => ({ token: hmac(idp, idp.pair.publicKey.export(PEM)) }), b4],
  ['N007 HS256 with the PEM, trimmed', ({ idp }) => ({ token: hmac(idp, idp.pair.publicKey.export(PEM).toString().trim()) }), b4],
  ['N007 HS256 with the DER', ({ idp }) => ({ token: hmac(idp, idp.pair.publicKey.export({ type: 'spki', format: 'der' })) }), b4],
  ['N007 HS256 with the modulus', ({ idp }) => ({ token: hmac(idp, String(idp.pair.publicKey.export({ format: 'jwk' }).n)) }), b4],
  ...['RS384', 'PS256', 'ES256', 'EdDSA'].map((alg): Row => [`N008 ${alg}, genuine`, ({ idp }) => ({ token: forge(idp, alg, { header: { kid: alg } }) }), b4]),
  ['N009 an unknown kid', ({ idp }) => ({ token: forge(idp, 'RS256', { header: { kid: 'k9' } }) }), b4],
  ...['../../../../dev/null', "' UNION SELECT 'x'--", 'x'.repeat(8_000), '\0', ['k1']].map((kid): Row => [`N010 kid ${JSON.stringify(kid).slice(0, 30)}`, ({ idp }) => ({ token: forge(idp, 'RS256', { header: { kid } }) }), b4]),
  [
    'N011 a key of its own',
    ({ idp }) => ({
      token: forge(idp, 'RS256', {
        header: { kid: undefined, jwk: attacker.publicKey.export({ format: 'jwk' }) },
        key: attacker.privateKey,
      }),
    }),
    b4,
  ],
  ['N011 a stranger’s key under a known kid', ({ idp }) => ({ token: forge(idp, 'RS256', { key: attacker.privateKey }) }), b4],
  [
    'N012 jku',
    ({ idp }) => ({
      token: forge(idp, 'RS256', { header: { kid: 'k9', jku: `${idp.issuer}elsewhere` } }),
    }),
    b4,
  ],
  [
    'N012 x5u',
    ({ idp }) => ({
      token: forge(idp, 'RS256', { header: { kid: 'k9', x5u: `${idp.issuer}elsewhere` } }),
    }),
    b4,
  ],
  ['N013 crit', ({ idp }) => ({ token: forge(idp, 'RS256', { header: { crit: ['exp2'], exp2: 1 } }) }), b4],
  ['N013 b64 false', ({ idp }) => ({ token: forge(idp, 'RS256', { header: { b64: false, crit: ['b64'] } }) }), b4],
  ['N013 five parts', ({ idp }) => ({ token: `${forge(idp, 'RS256')}.a.b` }), b4],
  ['N013 JSON', () => ({ token: '{"payload":"e30","signatures":[]}' }), b4],
  ['N013 an access token by name (RFC 9068)', ({ idp }) => ({ token: forge(idp, 'RS256', { header: { typ: 'at+jwt' } }) }), 200],
  ['N014 iss without the slash', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { iss: idp.issuer.slice(0, -1) } }) }), b4],
  ['N014 iss with two', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { iss: `${idp.issuer}/` } }) }), b4],
  ['N014 iss in capitals', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { iss: idp.issuer.toUpperCase() } }) }), b4],
  ['N014 iss with more', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { iss: `${idp.issuer}x` } }) }), b4],
  ['N014 a list of iss', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { iss: [idp.issuer] } }) }), b4],
  ['N014 no iss', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { iss: undefined } }) }), b4],
  ...['other', 'windlass2', '', undefined, ['other'], []].map((aud): Row => [`N015 aud ${JSON.stringify(aud)}`, ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { aud } }) }), b4]),
  ['N015 a list with ours', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { aud: ['other', 'windlass'] } }) }), 200],
  ['N016 exp 25 s ago', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { exp: idp.nowS() - 25 } }) }), 200],
  ['N016 exp 31 s ago', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { exp: idp.nowS() - 31 } }) }), b4],
  ...[undefined, null, '9999999999', -1, 0, 1e300].map((exp): Row => [`N016 exp ${JSON.stringify(exp)}`, ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { exp } }) }), b4]),
  [
    'N016 exp in eleven years',
    ({ idp }) => ({
      token: forge(idp, 'RS256', { claims: { exp: idp.nowS() + 11 * 366 * 86_400 } }),
    }),
    b4,
  ],
  ['N017 nbf in 20 s', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { nbf: idp.nowS() + 20 } }) }), 200],
  ['N017 nbf in 60 s', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { nbf: idp.nowS() + 60 } }) }), b4],
  ['N017 iat in an hour', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { iat: idp.nowS() + 3_600 } }) }), 200],
  ...[undefined, '', 123, null, ['ann'], 'ann\0', 'ann\n', 'x'.repeat(256)].map((sub): Row => [`N018 sub ${JSON.stringify(sub)?.slice(0, 20)}`, ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { sub } }) }), b4]),
  ['N018 a sub beyond all measure', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { sub: 'x'.repeat(20_000) } }) }), 431],
  ['N020 an unknown subject', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { sub: 'eve' } }) }), unknownPrincipal],
  ['N022 the subject of a service account', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { sub: 'root' } }) }), unknownPrincipal],
  ['N023 a subject in capitals', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { sub: 'Ann' } }) }), unknownPrincipal],
  ['N023 a subject with a blank', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { sub: 'ann ' } }) }), unknownPrincipal],
  ['N024 a disabled one', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { sub: 'bob' } }) }), b3],
  ['N025 a disabled one, in other letters', ({ idp }) => ({ token: twin(forge(idp, 'RS256', { claims: { sub: 'bob' } })) }), b3],
  ['N049 the issuer of execution tokens', ({ idp }) => ({ token: forge(idp, 'RS256', { claims: { iss: 'windlass-execution' } }) }), b4],
]

/** Credentials where they do not belong, or are worth nothing. */
export const doorRows: Row[] = [
  ['N005 in the query', ({ admin }) => ({ what: `GET /admin/roles?access_token=${admin}` }), b1],
  ['N005 in the body', ({ admin }) => ({ what: 'POST /auth/test-token', body: { token: admin } }), b1],
  ['N041 a key where the bootstrap token belongs', ({ admin }) => ({ what: 'POST /workers/register', token: admin, body: {} }), [403, { detail: 'Invalid bootstrap token.' }]],
  ['N041 a token of the issuer there', ({ idp }) => ({ what: 'POST /workers/register', token: forge(idp, 'RS256'), body: {} }), [403, { detail: 'Invalid bootstrap token.' }]],
  ['N042 no header there', () => ({ what: 'POST /workers/register', body: {} }), [401, { detail: 'Authorization header missing' }]],
  ['N042 another length', () => ({ what: 'POST /workers/register', token: 'x', body: {} }), [403, { detail: 'Invalid bootstrap token.' }]],
  ['N042 a long one', () => ({ what: 'POST /workers/register', token: 'x'.repeat(10_000), body: {} }), [403, { detail: 'Invalid bootstrap token.' }]],
  [
    'N019 roles by claim',
    ({ idp }) => ({
      what: 'GET /admin/secrets',
      token: forge(idp, 'RS256', {
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
