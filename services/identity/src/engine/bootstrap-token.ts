import { readOrCreateSecret } from '@windlass/runtime/config/home-file'
import type { Logger } from '@windlass/runtime/process/log'

/** Returns the bootstrap token, or undefined if there is none and none can be created. */
export type ReadBootstrapToken = () => Promise<string | undefined>

/**
 * Returns the configured token, or the content of `<home>/bootstrap-token`, which is created if it
 * does not exist. A blank setting counts as none. The file is read at each call, so a rotated token
 * needs no restart.
 */
export function createBootstrapTokenReader(
  home: string,
  configured: string | undefined,
  log: Logger,
): ReadBootstrapToken {
  const fixed = configured?.trim()
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
