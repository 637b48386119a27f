import { conflict } from '@windlass/runtime/faults'
import type { Tx } from '@windlass/runtime/postgres/db'
import type { Origin } from './audit.ts'
import * as principals from './store/principals.ts'

/**
 * Makes a change that may leave nobody who may do everything, and refuses it where the caller is one
 * of those: no administrator locks everybody out. Such changes come one after another, so that of the
 * last two who go at once one stays. Whoever is none may still disable the last one.
 */
export async function keepingAnAdmin<T>(
  tx: Tx,
  { caller }: Origin,
  change: () => Promise<T>,
): Promise<T> {
  await principals.lockAdmins(tx)
  const { subject, issuer: external_issuer } = caller
  const matters = await principals.isAdmin(tx, { subject, external_issuer })
  const done = await change()
  if (matters && !(await principals.isThereAnAdmin(tx)))
    throw conflict('The last administrator cannot give up being one')
  return done
}
