import { readOrCreateSecret } from '@windlass/runtime/config/home-file'
import type { Logger } from '@windlass/runtime/process/log'

/**
 * Reads the configured token, or the content of `<home>/bootstrap-token`, which is created if it
 * does not exist. A blank setting counts as none. The file is read at each call, so a rotated token
 * needs no restart. Returns undefined if there is no token and none can be created.
 */
export function createBootstrapTokenReader(home: string, token: string | undefined, log: Logger) {
  const fixed = token?.trim()
  if (fixed) return async () => fixed
  return async () => {
    try {
      return await readOrCreateSecret(home, 'bootstrap-token')
    } catch (error) {
      log.error({ err: error, home }, 'failed to read or create the bootstrap token')
      return undefined
    }
  }
}
