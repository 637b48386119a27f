import { stripsTypes } from '../bootstrap/strips-types.mjs'

/** Arguments of Node before a script in TypeScript: a loader where this Node has none. */
export const TYPESCRIPT_ARGS: readonly string[] = stripsTypes
  ? []
  : ['--import', import.meta.resolve('tsx')]
