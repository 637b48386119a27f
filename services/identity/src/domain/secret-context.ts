import type { EntryScope } from './entry-scope.ts'

/** The place to which a stored value belongs; the value cannot be decrypted for any other place. */
export interface SecretContext extends EntryScope {
  name: string
  version: number
  /** Set for the previous value: the time until which it may be read. */
  previous_until?: Date | undefined
}

/**
 * Additional data of the cipher: a JSON array, so no two places have the same text. Never changes:
 * stored values depend on it.
 */
export const toAad = (context: SecretContext): string => {
  const { name, version, namespaces = null, workflows = null, previous_until } = context
  const slot = previous_until ? previous_until.getTime() : 'current'
  return JSON.stringify(['windlass secret 2', name, version, slot, namespaces, workflows])
}
