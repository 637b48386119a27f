// The settings as `npm start` reads them, in one file (scripts/setup/bundles.ts): imported from its sources the
// package would look for its dependencies in the compiler's output, which a start does not make.

import { keysOf } from '../../packages/rpc/src/pair-keys.ts'
import { requireLoopbackIfAnonymous } from '../../packages/runtime/src/config/anonymous-network.ts'
import { requireAuthSecrets } from '../../packages/runtime/src/config/auth-secrets.ts'
import { loadSettings } from '../../packages/runtime/src/config/load-settings.ts'

export const startSettings = {
  loadSettings,
  requireAuthSecrets,
  requireLoopbackIfAnonymous,
  keysOf,
}
