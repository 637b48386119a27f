import type { Settings } from '@windlass/runtime/config/settings'
import type { Logger } from '@windlass/runtime/process/log'
import type { Caches } from '../cache/create-caches.ts'
import type { ReadGeneration } from '../cache/generation-reader.ts'
import type { Clients } from '../clients/connect.ts'
import { type AuthenticateToken, createApiKeyAuthenticator, isApiKey } from './api-key.ts'
import { createOidcAuthenticator } from './oidc.ts'

export interface TokenAuthenticatorDeps extends Pick<Clients, 'keys' | 'principals'> {
  getAccount: Caches['getAccount']
  readAuth: ReadGeneration
  log: Pick<Logger, 'warn'>
}

/** Authenticates API keys, and all other bearer tokens as those of the OIDC issuer, if one is configured. */
export function createTokenAuthenticator(
  oidc: Settings['security']['auth']['oidc'],
  { keys, principals, getAccount, readAuth, log }: TokenAuthenticatorDeps,
): AuthenticateToken {
  const byKey = createApiKeyAuthenticator(keys, readAuth)
  if (!oidc.enabled) return byKey
  const onError = (err: unknown) => log.warn({ err }, 'failed to fetch the keys of the OIDC issuer')
  const byOidc = createOidcAuthenticator(oidc, { getAccount, principals }, onError)
  return (token, address) => (isApiKey(token) ? byKey(token, address) : byOidc(token, address))
}
