import { createRequire } from 'node:module'

/** The same driver as in the services. */
export const pg = createRequire(new URL('../../packages/runtime/package.json', import.meta.url))(
  'pg',
)
