import type { Settings } from './settings.ts'

/** Secrets that authentication needs, by the name of their setting. */
const SECRETS = {
  '[svc.security].execution_token_secret': ({ security }: Settings) =>
    security.execution_token_secret,
  '[svc.security.encryption].encryption_key': ({ security }: Settings) =>
    security.encryption.encryption_key,
}
type AuthSecret = keyof typeof SECRETS

/**
 * Throws if authentication is on and one of these secrets is unset, and names those that are. A
 * service checks the ones that it uses, so that it need not know the others; `npm start` checks all.
 */
export function requireAuthSecrets(
  settings: Settings,
  secrets: readonly AuthSecret[] = Object.keys(SECRETS) as AuthSecret[],
): void {
  if (!settings.security.auth.enabled) return
  const missing = secrets.filter((name) => !SECRETS[name](settings)?.trim())
  if (missing.length > 0)
    throw new Error(`authentication is on, which needs ${missing.join(' and ')} to be set`)
}
