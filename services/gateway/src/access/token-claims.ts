import type { Settings } from '@windlass/runtime/config/settings'
import type { JWTHeaderParameters, JWTPayload } from 'jose'

type Rules = Pick<
  Settings['security']['auth']['oidc'],
  'require_access_token' | 'required_claims' | 'authorized_parties'
>

const ACCESS_TOKEN = 'at+jwt'
/** Values of the payload's member `typ`, with which some issuers say what a token is for. */
const OTHER_TOKENS = ['logout', 'refresh', 'offline']
/** Claims that only ID tokens have (OpenID Connect Core 1.0, sections 2 and 3.3.2.11). */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash']
/** Claims of access tokens of issuers that do not use the type `at+jwt`. */
const ACCESS_TOKEN_CLAIMS = ['scope', 'scp', 'client_id']

/** Normalizes the type of a token: a media type, compared without case and without `application/`. */
const typeOf = ({ typ }: Pick<JWTHeaderParameters, 'typ'>): string | undefined =>
  typ?.toLowerCase().replace(/^application\//, '')

/**
 * True if a signed token is meant for calling this server. It must not be a logout token, another security
 * event (RFC 8417) or a refresh token, nor an ID token where an access token is required, and it must have
 * the claims and the authorized party that the settings require.
 */
export function isAcceptedToken(
  header: Pick<JWTHeaderParameters, 'typ'>,
  claims: JWTPayload,
  { require_access_token, required_claims, authorized_parties }: Rules,
): boolean {
  const type = typeOf(header)
  if (type !== undefined && type !== 'jwt' && type !== ACCESS_TOKEN) return false
  if ('events' in claims || OTHER_TOKENS.includes(payloadTypeOf(claims))) return false
  if (require_access_token && !isAccessToken(type, claims)) return false
  if (!hasClaims(claims, required_claims)) return false
  return authorized_parties.length === 0 || authorized_parties.includes(partyOf(claims))
}

const payloadTypeOf = ({ typ }: JWTPayload) => (typeof typ === 'string' ? typ.toLowerCase() : '')

function isAccessToken(type: string | undefined, claims: JWTPayload): boolean {
  if (type === ACCESS_TOKEN) return true
  if (payloadTypeOf(claims) === 'id' || ID_TOKEN_CLAIMS.some((name) => name in claims)) return false
  return ACCESS_TOKEN_CLAIMS.some((name) => name in claims)
}

/** True if a token has all of these claims. */
export const hasClaims = (claims: JWTPayload, required: readonly string[]): boolean =>
  required.every((one) => hasClaim(claims, one))

/**
 * `name` requires that the claim exists; `name=value` requires that it is this text, number or flag, or a
 * list that contains it.
 */
function hasClaim(claims: JWTPayload, required: string): boolean {
  const [name = '', ...rest] = required.split('=')
  const given = Object.hasOwn(claims, name) ? claims[name] : undefined
  if (given === undefined || given === null) return false
  if (rest.length === 0) return true
  return [given].flat().some((item) => typeof item !== 'object' && String(item) === rest.join('='))
}

const partyOf = ({ azp, client_id }: JWTPayload): string => {
  const party = azp ?? client_id
  return typeof party === 'string' ? party : ''
}
