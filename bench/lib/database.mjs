import { createRequire } from 'node:module'

/** The driver is the services' own. */
export const pg = createRequire(new URL('../../packages/runtime/package.json', import.meta.url))(
  'pg',
)
