import { serverUrl } from '../api/server.ts'
import { getSignInOptions } from '../api/sign-in.ts'
import { useQuery } from '../api/use-query.ts'
import type { Place } from '../location/location.ts'
import { issuerAddress, SIGN_IN_PROBLEMS } from './sign-in-address.ts'

/** Leads to the issuer's sign-in, which comes back to this address; nothing where there is none. */
export function IssuerLink({ place }: { place: Place }) {
  const { data } = useQuery('sign-in options', getSignInOptions)
  const problem = place.query.get('sign_in')
  const text =
    problem === null ? undefined : (SIGN_IN_PROBLEMS[problem] ?? SIGN_IN_PROBLEMS.refused)
  if (!data?.oidc) return null
  const { name, start } = data.oidc
  return (
    <div class="issuer">
      {text && (
        <p class="failure-text" role="alert">
          {text}
        </p>
      )}
      <a class="button primary" href={issuerAddress(`${serverUrl()}/${start}`, place)}>
        Sign in with <bdi>{name}</bdi>
      </a>
      <p class="faint">or</p>
    </div>
  )
}
