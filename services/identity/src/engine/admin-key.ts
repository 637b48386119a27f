import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import { addMarker } from '@windlass/runtime/cache-generation'
import { Fault } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { authMarkers } from '../store/pending-invalidations.ts'
import * as principals from '../store/principals.ts'
import { createKey, keyCreation } from './create-key.ts'
import type { KeyLifetimes } from './key-limits.ts'
import { auditName, createPrincipal } from './principal-records.ts'
import { recordChange, systemOrigin } from './record-change.ts'

export interface AdminKeyRequest {
  subject: string
  /** Name of the key. */
  name: string
  /** 0: the key does not expire. */
  days: number
}

const PROGRAM = 'windlass admin create-key'
const BY = systemOrigin(PROGRAM)
const NO_LIFETIMES: KeyLifetimes = { default_lifetime_days: 0, max_lifetime_days: 0 }

/**
 * Creates a key of a service account with the role `admin`, and the account if it does not exist. It needs
 * access to the database but no permission, because it creates the first administrator. Throws `conflict`
 * if the principal is disabled or is not a service account.
 */
export const createAdminKey = (
  db: Db,
  { subject, name, days }: AdminKeyRequest,
  lifetimes: KeyLifetimes = NO_LIFETIMES,
): Promise<string> =>
  db.tx(async (tx) => {
    const ref = { subject: subject.normalize('NFC'), external_issuer: INTERNAL_ISSUER }
    const wanted = { ...ref, type: 'service_account', roles: [], created_by: PROGRAM }
    const known = await principals.find(tx, ref)
    const principal = known ?? (await createPrincipal(tx, { ...wanted, display_name: undefined }))
    if (principal.type !== 'service_account' || !principal.enabled)
      throw new Fault('conflict', `'${subject}' exists but is not an enabled service account`)
    await principals.grant(tx, principal.id, ['admin'], PROGRAM)
    await addMarker(tx, authMarkers)
    const key = await createKey(tx, { principal_id: principal.id, name, days }, lifetimes)
    const object = auditName(ref)
    const detail = { type: wanted.type, roles: ['admin'] }
    if (!known) await recordChange(tx, BY, { action: 'principal.create', object, detail })
    else if (!known.roles.includes('admin'))
      await recordChange(tx, BY, {
        action: 'principal.grant_role',
        object,
        detail: { role: 'admin' },
      })
    await recordChange(tx, BY, keyCreation(ref, { name, key }))
    return key
  })
