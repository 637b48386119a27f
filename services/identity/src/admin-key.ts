import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import { Fault } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { itself, record } from './audit.ts'
import { add, created } from './handlers/keys.ts'
import { create, named } from './handlers/principals.ts'
import * as pendingEpoch from './store/pending-epoch.ts'
import * as principals from './store/principals.ts'

export interface AdminKey {
  subject: string
  /** Of the key. */
  name: string
  /** 0 for ever. */
  days: number
}

const MAKER = 'windlass admin create-key'
const BY = itself(MAKER)

/**
 * A new key of a service account with the role `admin`, which is made if it is not there. It takes
 * the database and no permission: this is how the first one comes about. Throws `conflict` for
 * what is there but no enabled service account.
 */
export const makeAdminKey = (db: Db, { subject, name, days }: AdminKey): Promise<string> =>
  db.tx(async (tx) => {
    const ref = { subject: subject.normalize('NFC'), external_issuer: INTERNAL_ISSUER }
    const wanted = { ...ref, type: 'service_account', roles: [], created_by: MAKER }
    const known = await principals.find(tx, ref)
    const principal = known ?? (await create(tx, { ...wanted, display_name: undefined }))
    if (principal.type !== 'service_account' || !principal.enabled)
      throw new Fault('conflict', `'${subject}' is there, but is no enabled service account`)
    await principals.grant(tx, principal.id, ['admin'], MAKER)
    await pendingEpoch.add(tx)
    const key = await add(tx, { principal_id: principal.id, name, days })
    const object = named(ref)
    const detail = { type: wanted.type, roles: ['admin'] }
    if (!known) await record(tx, BY, { action: 'principal.create', object, detail })
    else if (!known.roles.includes('admin'))
      await record(tx, BY, { action: 'principal.grant_role', object, detail: { role: 'admin' } })
    await record(tx, BY, created(ref, name, key))
    return key
  })
