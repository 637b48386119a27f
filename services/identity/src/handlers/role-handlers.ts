import { objects } from '@windlass/domain/audit'
import { isMadeBefore, revisionOf } from '@windlass/domain/revision'
import type { Precondition } from '@windlass/proto/windlass/access/v1/precondition'
import type {
  Role,
  RolesService,
  UpdateRoleRequest,
} from '@windlass/proto/windlass/identity/v1/principals'
import type { Handlers } from '@windlass/rpc/call'
import type { CacheInvalidator } from '@windlass/runtime/cache-generation'
import { conflict, invalid, notFound } from '@windlass/runtime/faults'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import { applyChange, parseNewRoleName, parsePermissions } from '../domain/grants.ts'
import { requireRemainingAdmin } from '../engine/last-admin-guard.ts'
import { type Origin, originOf, recordChange } from '../engine/record-change.ts'
import * as principals from '../store/principals.ts'
import * as roles from '../store/roles.ts'

const toRole = (role: Role) => ({ ...role, revision: revisionOf(role.permissions) })

export const roleHandlers = (db: Db, caches: CacheInvalidator): Handlers<typeof RolesService> => ({
  list: async () => ({ roles: (await roles.list(db)).map(toRole) }),

  async get({ name }) {
    const role = await roles.find(db, name)
    if (!role) throw notFound('Role', name)
    return toRole(role)
  },

  create: ({ name, permissions }, call) =>
    db.tx((tx) =>
      createRole(
        tx,
        { name: parseNewRoleName('name', name), permissions: parsePermissions(permissions) },
        originOf(call),
      ),
    ),

  update: (request, call) => updateRole(caches, request, originOf(call)),

  async updateIf({ update, precondition }, call) {
    if (!update || !precondition) throw invalid('update and precondition are required')
    return updateRole(caches, update, originOf(call), precondition)
  },

  delete: ({ name }, call) =>
    caches.commitAndInvalidate(async (tx) => {
      const { permissions } = await lockChangeable(tx, name)
      const by = originOf(call)
      await requireRemainingAdmin(tx, by, () => roles.remove(tx, name))
      const detail = { permissions }
      await recordChange(tx, by, { action: 'role.delete', object: objects.role(name), detail })
      return {}
    }),

  simulate: ({ name, add_permissions: add, remove_permissions: remove, delete: isDeleted }) =>
    db.tx(async (tx) => {
      const role = await lockChangeable(tx, name)
      const permissions = isDeleted ? [] : applyChange(role.permissions, { add, remove })
      return { role, permissions, holders: await principals.listHolders(tx, name) }
    }),

  clone: ({ name, new_name }, call) =>
    db.tx(async (tx) => {
      const role = await roles.find(tx, name)
      if (!role) throw invalid(`Role '${name}' not found`)
      const { permissions } = role
      return createRole(
        tx,
        { name: parseNewRoleName('new_name', new_name), permissions },
        originOf(call),
      )
    }),
})

/** Changes a role, unless it does not meet the precondition. */
function updateRole(
  caches: CacheInvalidator,
  { name, add_permissions: add, remove_permissions: remove }: UpdateRoleRequest,
  by: Origin,
  precondition?: Precondition,
): Promise<Role> {
  return caches.commitAndInvalidate(async (tx) => {
    const before = toRole(await lockChangeable(tx, name))
    const permissions = applyChange(before.permissions, { add, remove })
    const after = toRole({ ...before, permissions })
    const revisions = { before: before.revision, after: after.revision }
    if (isMadeBefore('role', precondition, revisions)) return before
    await requireRemainingAdmin(tx, by, () => roles.setPermissions(tx, name, permissions))
    const detail = { before: before.permissions, after: permissions }
    await recordChange(tx, by, { action: 'role.update', object: objects.role(name), detail })
    return after
  })
}

type NewRole = Pick<Role, 'name' | 'permissions'>

async function createRole(tx: Tx, { name, permissions }: NewRole, by: Origin): Promise<Role> {
  if ((await roles.insert(tx, name, permissions)) === 0)
    throw conflict(`Role '${name}' already exists`)
  const detail = { permissions }
  await recordChange(tx, by, { action: 'role.create', object: objects.role(name), detail })
  return toRole({ name, permissions, built_in: false })
}

async function lockChangeable(tx: Tx, name: string): Promise<Role> {
  const role = await roles.lock(tx, name)
  if (!role) throw invalid(`Role '${name}' not found`)
  if (role.built_in) throw invalid(`Built-in role '${name}' cannot be changed or deleted`)
  return role
}
