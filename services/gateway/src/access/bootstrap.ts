import type { WorkerGrant } from '@windlass/proto/windlass/identity/v1/identity'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import type { Caches } from '../cache/create-caches.ts'
import type { RefusedTokens } from '../cache/refused-tokens.ts'
import type { Clients } from '../clients/connect.ts'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import { authorizationOf } from './authenticate.ts'
import type { GuessLimit } from './guess-limit.ts'
import type { RateLimit } from './rate-limit.ts'
import { type AccessRequest, rule } from './rule.ts'
import { requireWorkerCertificate } from './worker-certificate.ts'

export interface Deps {
  identity: Clients['identity']
  registrationLimit: RateLimit
  bootstrapGuesses: GuessLimit
  refusedRegistrars: RefusedTokens
  getSession: Caches['getSession']
  settings: Settings
}

/** Rights of a registration, from its credential. */
export interface Registrar {
  /** The session that a worker renews, in place of a bootstrap token. */
  renewed?: WorkerIdentity | undefined
  /** Restrictions of its worker token. */
  grant?: WorkerGrant | undefined
}

/** Attempts with a wrong token are counted apart from registrations, and before the token is checked. */
export const bootstrap = rule({
  summary: 'the bootstrap token, or the session token of the worker that renews its registration',
  for: 'machines',
  requiredPermissions: [],
  async authorize({ ctx }: AccessRequest<unknown>, deps: Deps): Promise<Registrar> {
    const { registrationLimit, bootstrapGuesses, getSession, settings } = deps
    // The body with the name has not been read yet: the handler compares the name.
    requireWorkerCertificate(ctx, settings, undefined)
    const authorization = authorizationOf(ctx)
    if (authorization === undefined)
      throw new Fault('unauthenticated', 'Authorization header missing')
    const [, token] = /^Bearer\s+(\S+)\s*$/i.exec(authorization) ?? []
    if (token === undefined) throw new Fault('unauthenticated', 'Invalid authorization format')
    const { configured, valid, renewed, grant } = await bootstrapGuesses.verify(ctx, token, () =>
      isSessionToken(token)
        ? verdictOf(() => checkRenewal(getSession, token))
        : checkToken(deps, token),
    )
    if (!configured) throw new Fault('misconfigured', 'No bootstrap token is configured.')
    // An ended session is answered like any other token that this route does not accept.
    if (!valid) throw new Fault('forbidden', 'Invalid bootstrap token.')
    await registrationLimit.count(ctx)
    return { renewed, grant }
  },
})

const isSessionToken = (token: string) => token.startsWith('ws_')

interface Verdict extends Registrar {
  configured: boolean
  valid: boolean
}

/** A token that was just refused, or whose checksum is wrong, costs no lookup. */
const checkToken = ({ identity, refusedRegistrars }: Deps, token: string): Promise<Verdict> =>
  verdictOf(() =>
    refusedRegistrars.check(token, async () => {
      const verdict = await identity.checkBootstrap({ token, accepts_grants: true })
      if (verdict.configured && !verdict.valid) throw new Fault('unauthenticated', 'unknown token')
      return verdict
    }),
  )

async function checkRenewal(getSession: Deps['getSession'], token: string): Promise<Verdict> {
  const renewed = await getSession(token)
  return { configured: true, valid: true, renewed, grant: renewed.grant }
}

/** Converts the refusal of a token to a verdict for the guess limit. */
async function verdictOf(check: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unauthenticated')
      return { configured: true, valid: false }
    throw error
  }
}
