import { createRequire } from 'node:module'

/** The release, as package.json has it. */
export const version = (): string =>
  (createRequire(import.meta.url)('../package.json') as { version: string }).version
