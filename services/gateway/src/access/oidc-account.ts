import type { Account, PrincipalsService } from '@windlass/proto/windlass/identity/v1/principals'
import type { RpcClient } from '@windlass/rpc/client'
import { Fault } from '@windlass/runtime/faults'
import type { JWTPayload } from 'jose'

type Principals = Pick<RpcClient<typeof PrincipalsService>, 'provision'>

export interface OidcAccountDeps {
  getAccount(subject: string, external_issuer: string): Promise<Account>
  principals: Principals
}

const MAX_SUBJECT_CHARS = 255

/** True for a subject that can be stored. */
export const isSubject = (text: unknown): text is string =>
  typeof text === 'string' &&
  text.length > 0 &&
  text.length <= MAX_SUBJECT_CHARS &&
  !/\p{Cc}|\p{Cs}/u.test(text)

/**
 * Returns the account of the subject of an issuer. If roles for new principals are configured, creates an
 * unknown one; otherwise throws `unauthenticated`.
 */
export async function accountOf(
  { getAccount, principals }: OidcAccountDeps,
  claims: JWTPayload & { sub: string },
  { issuer, roles }: { issuer: string; roles: string[] | undefined },
): Promise<Account> {
  const { sub: subject } = claims
  try {
    return await getAccount(subject, issuer)
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'not_found') throw error
    if (!roles) throw new Fault('unauthenticated', 'Principal not provisioned')
    return provision(principals, claims, { subject, issuer, roles })
  }
}

interface ProvisionRequest {
  subject: string
  issuer: string
  roles: string[]
}

async function provision(
  principals: Principals,
  { name, azp }: JWTPayload,
  { subject, issuer: external_issuer, roles }: ProvisionRequest,
) {
  try {
    return await principals.provision(
      {
        principal: { subject, external_issuer },
        display_name: isSubject(name) ? name : subject,
        roles,
        metadata_json: JSON.stringify(typeof azp === 'string' ? { azp: azp.slice(0, 255) } : {}),
      },
      { caller: { subject, issuer: external_issuer } },
    )
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'not_found') throw error
    throw new Fault('misconfigured', 'a role of default_user_roles does not exist')
  }
}
