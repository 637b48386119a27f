import type { Settings } from './settings.ts'

/** Throws while authentication is on without the secrets that it stands on, and names those that are missing. */
export function requireAuthSecrets({ security }: Settings): void {
  if (!security.auth.enabled) return
  const given = {
    '[svc.security].execution_token_secret': security.execution_token_secret,
    '[svc.security.encryption].encryption_key': security.encryption.encryption_key,
  }
  const missing = Object.entries(given).filter(([, value]) => !value?.trim())
  if (missing.length > 0)
    throw new Error(
      `authentication is on, which needs ${missing.map(([name]) => name).join(' and ')} to be set`,
    )
}
