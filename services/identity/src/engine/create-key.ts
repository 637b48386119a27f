import { objects } from '@windlass/domain/audit'
import type { PrincipalRef } from '@windlass/proto/windlass/identity/v1/principals'
import { invalid } from '@windlass/runtime/faults'
import type { Tx } from '@windlass/runtime/postgres/db'
import { parseDays, parseName } from '../domain/grants.ts'
import * as keys from '../store/keys.ts'
import { auditName } from './principal-records.ts'
import { newApiKey } from './tokens.ts'

/** Audit entry of a new key: names its prefix, never the key. */
export const keyCreation = (principal: PrincipalRef, name: string, key: string) => ({
  action: 'key.create' as const,
  object: objects.key(auditName(principal), name),
  detail: { prefix: key.split('.')[0] },
})

interface KeyRequest {
  principal_id: string
  name: string
  /** 0: the key does not expire. */
  days: number
}

/** Creates a key and returns it; only its hash is stored. Throws `invalid` if the name is taken. */
export async function createKey(tx: Tx, { principal_id, name, days }: KeyRequest): Promise<string> {
  const { token, prefix, token_hash } = newApiKey()
  const stored = {
    prefix,
    token_hash,
    principal_id,
    name: parseName('name', name),
    days: parseDays(days),
  }
  if ((await keys.insert(tx, stored)) === 0)
    throw invalid(`API key '${name}' already exists for this principal`)
  return token
}
