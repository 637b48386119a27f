import { conflict } from '@windlass/runtime/faults'
import type { Tx } from '@windlass/runtime/postgres/db'
import * as principals from '../store/principals.ts'
import type { Origin } from './record-change.ts'

/**
 * Applies a change that may remove the last enabled administrator. Throws `conflict` if it does and the
 * caller is an administrator, so administrators cannot lock themselves out. An advisory lock serializes
 * such changes: if two administrators disable each other at once, one of them remains. A caller without the
 * permission `*` may disable the last administrator.
 */
export async function requireRemainingAdmin<T>(
  tx: Tx,
  { caller }: Origin,
  change: () => Promise<T>,
): Promise<T> {
  await principals.lockAdmins(tx)
  const { subject, issuer: external_issuer } = caller
  const isCallerAdmin = await principals.isAdmin(tx, { subject, external_issuer })
  const result = await change()
  if (isCallerAdmin && !(await principals.hasEnabledAdmin(tx)))
    throw conflict(
      'The last administrator cannot be removed: make another principal administrator first',
    )
  return result
}
