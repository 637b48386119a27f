import type { EntryScope } from './entry-scope.ts'

/** The place that a stored value belongs to; it cannot be decrypted at another one. */
export interface SecretContext extends EntryScope {
  name: string
  version: number
  /** Set for the value before the current one: the time until which it may be read. */
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
