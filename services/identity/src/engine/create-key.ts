import { objects } from '@windlass/domain/audit'
import type { KeyLimits, PrincipalRef } from '@windlass/proto/windlass/identity/v1/principals'
import { invalid } from '@windlass/runtime/faults'
import type { Tx } from '@windlass/runtime/postgres/db'
import { parseName } from '../domain/grants.ts'
import * as keys from '../store/keys.ts'
import { type KeyLifetimes, parseLifetime, parseLimits } from './key-limits.ts'
import { auditName } from './principal-records.ts'
import { newApiKey } from './tokens.ts'

interface CreatedKey {
  name: string
  key: string
  limits?: KeyLimits | undefined
}

/** Audit entry of a new key: names its prefix, never the key. */
export const keyCreation = (principal: PrincipalRef, { name, key, limits }: CreatedKey) => ({
  action: 'key.create' as const,
  object: objects.key(auditName(principal), name),
  detail: { prefix: key.split('.')[0], ...limits },
})

interface KeyRequest extends Pick<keys.NewKey, 'principal_id' | 'name' | 'days'> {
  limits?: KeyLimits | undefined
}

/** Creates a key and returns it; only its hash is stored. Throws `invalid` if the name is taken. */
export async function createKey(
  tx: Tx,
  { principal_id, limits, ...request }: KeyRequest,
  lifetimes: KeyLifetimes,
): Promise<string> {
  const { token, ...stored } = newApiKey()
  const name = parseName('name', request.name)
  const days = parseLifetime(request.days, lifetimes)
  const allowed = limits ? parseLimits(limits) : { permissions: undefined, networks: undefined }
  if ((await keys.insert(tx, { principal_id, ...stored, ...allowed, name, days })) === 0)
    throw invalid(`API key '${name}' already exists for this principal`)
  return token
}
