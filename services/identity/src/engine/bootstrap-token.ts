import { MIN_BOOTSTRAP_CHARS } from '@windlass/runtime/config/auth-secrets'
import { readOrCreateSecret } from '@windlass/runtime/config/home-file'
import { findWeakness } from '@windlass/runtime/config/secret-strength'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Logger } from '@windlass/runtime/process/log'

const FILE = 'bootstrap-token'

/**
 * Reads the configured token, or the content of `<home>/bootstrap-token`, which is created if it does not
 * exist. A blank setting counts as unset. The file is read at each call, so a rotated token needs no
 * restart. Returns undefined if there is no token and none can be created, and, with authentication on, if
 * the file holds a guessable one.
 */
export function createBootstrapTokenReader({ home, workers, security }: Settings, log: Logger) {
  const fixed = workers.bootstrap_token?.trim()
  if (fixed) return async () => fixed
  return async () => {
    const token = await readOrCreateSecret(home, FILE).catch((err: unknown) => {
      log.error({ err, home }, 'failed to read or create the bootstrap token')
      return undefined
    })
    const weakness =
      token !== undefined && security.auth.enabled
        ? findWeakness(token, MIN_BOOTSTRAP_CHARS)
        : undefined
    if (weakness === undefined) return token
    log.error({ home, weakness }, 'weak bootstrap token: remove the file bootstrap-token in home')
    return undefined
  }
}
