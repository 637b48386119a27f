import { conflict } from '@windlass/runtime/faults'
import type { Tx } from '@windlass/runtime/postgres/db'
import * as principals from '../store/principals.ts'
import type { Origin } from './record-change.ts'

/**
 * Applies a change that may remove the last enabled administrator. Throws `conflict` if it does, for administrators
 * and for others that may manage principals or roles. An advisory lock serializes such changes: if two administrators
 * disable each other at once, one of them remains. An anonymous caller may remove the last one: while authentication is
 * off, none is needed.
 */
export async function requireRemainingAdmin<T>(
  tx: Tx,
  { caller }: Origin,
  change: () => Promise<T>,
): Promise<T> {
  await principals.lockAdmins(tx)
  const isGuarded = caller.subject !== '' && (await principals.hasEnabledAdmin(tx))
  const result = await change()
  if (isGuarded && !(await principals.hasEnabledAdmin(tx)))
    throw conflict(
      'The last administrator cannot be removed: make another principal administrator first',
    )
  return result
}
