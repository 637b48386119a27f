import { readOrCreateSecret } from '@windlass/runtime/config/home-file'
import type { Logger } from '@windlass/runtime/process/log'

/** Answers the bootstrap token, or undefined while there is none and none can be made. */
export type Bootstrap = () => Promise<string | undefined>

/**
 * The configured token (a blank one counts as none), else what `<home>/bootstrap-token` holds,
 * which is made if it is not there. The file is read each time, so a rotated token needs no restart.
 */
export function bootstrap(home: string, configured: string | undefined, log: Logger): Bootstrap {
  const fixed = configured?.trim()
  if (fixed) return async () => fixed
  return async () => {
    try {
      return await readOrCreateSecret(home, 'bootstrap-token')
    } catch (error) {
      log.error({ err: error, home }, 'no bootstrap token: the home directory cannot be used')
      return undefined
    }
  }
}
