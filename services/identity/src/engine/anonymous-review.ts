import { addMarker } from '@windlass/runtime/cache-generation'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import * as anonymous from '../store/anonymous-changes.ts'
import * as keys from '../store/keys.ts'
import { authMarkers } from '../store/pending-invalidations.ts'
import * as principals from '../store/principals.ts'
import * as roles from '../store/roles.ts'
import * as sessions from '../store/sessions.ts'
import * as workerTokens from '../store/worker-tokens.ts'
import { recordChange, systemOrigin } from './record-change.ts'

const COMMAND = 'windlass admin review-anonymous'
const BY = systemOrigin(COMMAND)
const MAX_SHOWN = 20

/** One line for each change that is not decided yet. */
export const describeChange = ({ object, actions, changed_at }: anonymous.AnonymousChange) =>
  `${object}  (${actions.join(', ')}; ${changed_at.toISOString()})`

/**
 * Throws if authentication is on while keys, principals, roles or worker tokens exist that an anonymous caller
 * created or changed: any caller that reached the open server would keep these rights.
 */
export async function requireReviewedChanges(db: Db, { security }: Settings): Promise<void> {
  if (!security.auth.enabled) return
  const open = await anonymous.listUndecided(db)
  if (open.length === 0) return
  const shown = open.slice(0, MAX_SHOWN).map(describeChange)
  const more = open.length > MAX_SHOWN ? [`and ${open.length - MAX_SHOWN} more`] : []
  throw new Error(
    [
      `authentication is on, and anonymous callers created or changed ${open.length} objects that grant rights while it was off:`,
      ...[...shown, ...more].map((line) => `  ${line}`),
      `Decide each with \`${COMMAND} confirm OBJECT\` or \`${COMMAND} revoke OBJECT\` (or --all).`,
    ].join('\n'),
  )
}

/**
 * Confirms or revokes objects that anonymous callers created or changed; without `object`, all that are not
 * decided yet. Returns the decided ones. Throws `not_found` for any other object.
 */
export const decideAnonymous = (
  db: Db,
  decision: anonymous.Decision,
  object: string | undefined,
): Promise<string[]> =>
  db.tx(async (tx) => {
    await principals.lockAdmins(tx)
    const open = await anonymous.listUndecided(tx)
    const chosen = open.filter((change) => object === undefined || change.object === object)
    if (object !== undefined && chosen.length === 0)
      throw new Fault('not_found', `no undecided anonymous change of '${object}'`)
    for (const change of chosen)
      if (decision === 'revoked') await revoke(tx, change)
      else await confirm(tx, change)
    for (const change of chosen) await anonymous.decide(tx, change.object, decision)
    if (decision === 'revoked') await addMarker(tx, authMarkers)
    return chosen.map((change) => change.object)
  })

/** Throws `conflict` for a name that several principals have: it would also confirm the one that was not meant. */
async function confirm(tx: Tx, { object }: anonymous.AnonymousChange): Promise<void> {
  if ((await anonymous.findTargets(tx, object)).length > 1)
    throw new Fault('conflict', `several principals have the name of '${object}': revoke it`)
  await recordChange(tx, BY, { action: 'anonymous.confirm', object })
}

/**
 * Deletes a key, role or worker token. A principal loses the roles that anonymous callers granted, and is disabled
 * if they created or updated it.
 */
async function revoke(tx: Tx, { object, actions }: anonymous.AnonymousChange): Promise<void> {
  if (object.startsWith('role:')) {
    await roles.remove(tx, object.slice('role:'.length))
    return recorded(tx, object, { deleted: 'role' })
  }
  if (object.startsWith('worker_token:')) {
    const name = object.slice('worker_token:'.length)
    await workerTokens.remove(tx, name)
    const ended_workers = (await sessions.endOfToken(tx, name)).length
    return recorded(tx, object, { deleted: 'worker_token', ended_workers })
  }
  // None: deleted by an earlier object of this batch.
  for (const { id, key_name } of await anonymous.findTargets(tx, object)) {
    if (key_name !== undefined) {
      await keys.remove(tx, id, key_name)
      await recorded(tx, object, { deleted: 'key' })
      continue
    }
    const revoked_roles = await anonymous.revokeAnonymousGrants(tx, id)
    const isOwn = actions.some((action) => action !== 'principal.grant_role')
    if (isOwn) await principals.update(tx, id, { enabled: false })
    await recorded(tx, object, { revoked_roles, ...(isOwn && { enabled: false }) })
  }
}

async function recorded(tx: Tx, object: string, detail: Record<string, unknown>): Promise<void> {
  await recordChange(tx, BY, { action: 'anonymous.revoke', object, detail })
}
