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

type KeyRequest = Pick<keys.NewKey, 'principal_id' | 'name' | 'days'>

/** Creates a key and returns it; only its hash is stored. Throws `invalid` if the name is taken. */
export async function createKey(tx: Tx, request: KeyRequest): Promise<string> {
  const { token, ...stored } = newApiKey()
  const [name, days] = [parseName('name', request.name), parseDays(request.days)]
  if ((await keys.insert(tx, { ...request, ...stored, name, days })) === 0)
    throw invalid(`API key '${name}' already exists for this principal`)
  return token
}
