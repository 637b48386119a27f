import type {
  Account,
  PrincipalRef,
  PrincipalsService,
  ProvisionRequest,
} from '@windlass/proto/windlass/identity/v1/principals'
import { type Call, callerOf, type Handlers } from '@windlass/rpc/call'
import type { CacheInvalidator } from '@windlass/runtime/cache-generation'
import { conflict, Fault, invalid } from '@windlass/runtime/faults'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import { parseDisplayName } from '../domain/grants.ts'
import { requireRemainingAdmin } from '../engine/last-admin-guard.ts'
import {
  auditName,
  createPrincipal,
  getAccount,
  getPrincipal,
  lockPrincipal,
  normalizeRef,
  requireRoles,
} from '../engine/principal-records.ts'
import { type Origin, originOf, recordChange } from '../engine/record-change.ts'
import * as keys from '../store/keys.ts'
import * as principals from '../store/principals.ts'

export const principalHandlers = (
  db: Db,
  caches: CacheInvalidator,
): Handlers<typeof PrincipalsService> => ({
  list: async ({ type }) => ({ principals: await principals.list(db, type) }),

  create: (request, call) =>
    db.tx(async (tx) => {
      const created = await createPrincipal(tx, { ...request, created_by: callerOf(call).subject })
      const detail = { type: created.type, roles: created.roles }
      const object = auditName(created)
      await recordChange(tx, originOf(call), { action: 'principal.create', object, detail })
      return created
    }),

  get: (ref) => getPrincipal(db, ref),

  update: ({ principal: ref, display_name, enabled }, call) =>
    caches.commitAndInvalidate(async (tx) => {
      const [by, { id }] = [originOf(call), await lockPrincipal(tx, ref)]
      const name = display_name && parseDisplayName(display_name)
      await requireRemainingAdmin(tx, by, () =>
        principals.update(tx, id, { display_name: name, enabled }),
      )
      const changed = await getPrincipal(tx, ref)
      const detail = { display_name: name, enabled }
      await recordChange(tx, by, { action: 'principal.update', object: auditName(changed), detail })
      return changed
    }),

  delete: ({ principal: ref, force }, call) =>
    caches.commitAndInvalidate(async (tx) => {
      const [by, { id, ...principal }] = [originOf(call), await lockPrincipal(tx, ref)]
      const ownKeys = await keys.list(tx, id)
      if (ownKeys.length > 0 && !force)
        throw conflict(
          `Principal '${ref?.subject}' has ${ownKeys.length} API keys. Delete it with force=true.`,
        )
      await requireRemainingAdmin(tx, by, () => principals.remove(tx, id))
      const detail = { force, keys: ownKeys.map(({ name }) => name) }
      const object = auditName(principal)
      await recordChange(tx, by, { action: 'principal.delete', object, detail })
      return {}
    }),

  grantRole: (request, call) =>
    caches.commitAndInvalidate(async (tx) => {
      const { role } = request
      const { id, ...principal } = await lockPrincipal(tx, request.principal)
      await requireRoles(tx, [role])
      await principals.grant(tx, id, [role], callerOf(call).subject)
      await recordRole(tx, originOf(call), { action: 'principal.grant_role', principal, role })
      return request
    }),

  resolve: (ref) => getAccount(db, ref),

  provision: (request, call) => db.tx((tx) => provision(tx, request, call)),

  revokeRole: (request, call) =>
    caches.commitAndInvalidate(async (tx) => {
      const [by, { role }] = [originOf(call), request]
      const { id, ...principal } = await lockPrincipal(tx, request.principal)
      await requireRemainingAdmin(tx, by, () => principals.revoke(tx, id, role))
      await recordRole(tx, by, { action: 'principal.revoke_role', principal, role })
      return request
    }),
})

interface RoleChange {
  action: 'principal.grant_role' | 'principal.revoke_role'
  principal: PrincipalRef
  role: string
}

const recordRole = (tx: Tx, by: Origin, { action, principal, role }: RoleChange) =>
  recordChange(tx, by, { action, object: auditName(principal), detail: { role } })

/** Creates the principal of the caller at its first request. Refuses to create any other principal. */
async function provision(
  tx: Tx,
  { principal: ref, display_name, roles, metadata_json }: ProvisionRequest,
  call: Call,
): Promise<Account> {
  if (!ref) throw invalid('principal is required')
  const { subject, issuer } = callerOf(call)
  if (subject !== ref.subject || issuer !== ref.external_issuer)
    throw new Fault('forbidden', 'a principal is provisioned by its own request alone')
  if (!(await principals.find(tx, normalizeRef(ref)))) {
    const request = { ...ref, type: 'user', display_name, roles, created_by: ref.external_issuer }
    const created = await createPrincipal(tx, request).catch(ignoreConflict)
    if (!created) return getAccount(tx, ref)
    const { id, ...principal } = created
    await principals.setMetadata(tx, id, metadata_json)
    const detail = { type: 'user', roles, provisioned: true }
    const object = auditName(principal)
    await recordChange(tx, originOf(call), { action: 'principal.create', object, detail })
  }
  return getAccount(tx, ref)
}

/** Concurrent first requests: one creates the principal, the others read it. */
function ignoreConflict(error: unknown): undefined {
  if (error instanceof Fault && error.kind === 'conflict') return undefined
  throw error
}
