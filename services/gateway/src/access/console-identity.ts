import type { Account } from '@windlass/proto/windlass/identity/v1/principals'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import { expiresIn, Signer } from '@windlass/runtime/signed'
import { toCaller } from './api-key.ts'
import type { Caller } from './caller.ts'
import { consoleIssuer } from './console-oidc.ts'

interface Claims {
  sub: string
  principal_issuer: string
}

const PREFIX = 'console-identity:'

/**
 * Credentials of console sessions that were opened at an OIDC issuer: a signed statement that this
 * installation has seen the principal sign in. It is kept in the session, sent to no browser and accepted
 * nowhere else, because the tokens of the issuer would expire within minutes. The signature keeps a writer
 * of Redis from creating a session for another principal.
 */
export class ConsoleIdentities {
  readonly #signer: Signer<Claims> | undefined
  readonly #lifetimeS: number
  /** The issuer at which sessions begin now; undefined: none may begin or continue. */
  readonly #issuer: string | undefined

  constructor(settings: Pick<Settings, 'security' | 'console'>) {
    const { security, console } = settings
    // Required while authentication is on; without it there is no sign-in.
    const { execution_token_secret: secret } = security
    this.#signer = secret === undefined ? undefined : new Signer(secret, 'console identity')
    this.#lifetimeS = console.session_max_age
    this.#issuer = console.oidc.enabled ? consoleIssuer(settings) : undefined
  }

  issue({ subject, issuer = '' }: Pick<Caller, 'subject' | 'issuer'>): string {
    if (!this.#signer)
      throw new Fault('misconfigured', '[svc.security].execution_token_secret is not set')
    const claims = { sub: subject, principal_issuer: issuer, exp: expiresIn(this.#lifetimeS) }
    return PREFIX + this.#signer.sign(claims)
  }

  isOne(credential: string): boolean {
    return credential.startsWith(PREFIX)
  }

  /**
   * Returns the principal with its current rights; throws `unauthenticated` if it is deleted or disabled, or if its
   * issuer is no longer that of the settings.
   */
  async authenticate(
    credential: string,
    getAccount: (subject: string, external_issuer: string) => Promise<Account>,
  ): Promise<Caller> {
    const claims = this.#signer?.verify(credential.slice(PREFIX.length))
    if (!claims || claims.principal_issuer !== this.#issuer) throw ended()
    try {
      return toCaller(await getAccount(claims.sub, claims.principal_issuer))
    } catch (error) {
      if (error instanceof Fault && error.kind === 'not_found') throw ended()
      throw error
    }
  }
}

const ended = () => new Fault('unauthenticated', 'The session has ended. Sign in again.')
