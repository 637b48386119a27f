import { createRequire } from 'node:module'

/** The release, as package.json has it. */
export const readVersion = (): string =>
  (createRequire(import.meta.url)('../package.json') as { version: string }).version
