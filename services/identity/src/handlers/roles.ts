import { objects } from '@windlass/domain/audit'
import type { Role, RolesService } from '@windlass/proto/windlass/identity/v1/principals'
import type { Handlers } from '@windlass/rpc/call'
import { conflict, invalid, notFound } from '@windlass/runtime/faults'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Redis } from '@windlass/runtime/redis/redis'
import { type Origin, originOf, record } from '../audit.ts'
import { changingRights } from '../changing-rights.ts'
import { changed, newRoleIn, permissionsOf } from '../domain/grants.ts'
import { keepingAnAdmin } from '../keeping-an-admin.ts'
import * as principals from '../store/principals.ts'
import * as roles from '../store/roles.ts'

export const roleHandlers = (db: Db, redis: Redis): Handlers<typeof RolesService> => ({
  list: async () => ({ roles: await roles.list(db) }),

  async get({ name }) {
    const role = await roles.find(db, name)
    if (!role) throw notFound('Role', name)
    return role
  },

  create: ({ name, permissions }, call) =>
    db.tx((tx) =>
      create(
        tx,
        { name: newRoleIn('name', name), permissions: permissionsOf(permissions) },
        originOf(call),
      ),
    ),

  update: ({ name, add_permissions: add, remove_permissions: remove }, call) =>
    changingRights(db, redis, async (tx) => {
      const role = await changeable(tx, name)
      const permissions = changed(role.permissions, { add, remove })
      const by = originOf(call)
      await keepingAnAdmin(tx, by, () => roles.setPermissions(tx, name, permissions))
      const detail = { before: role.permissions, after: permissions }
      await record(tx, by, {
        action: 'role.update',
        object: objects.role(name),
        detail,
      })
      return { ...role, permissions }
    }),

  delete: ({ name }, call) =>
    changingRights(db, redis, async (tx) => {
      const { permissions } = await changeable(tx, name)
      const by = originOf(call)
      await keepingAnAdmin(tx, by, () => roles.remove(tx, name))
      const detail = { permissions }
      await record(tx, by, {
        action: 'role.delete',
        object: objects.role(name),
        detail,
      })
      return {}
    }),

  simulate: ({ name, add_permissions: add, remove_permissions: remove, delete: goes }) =>
    db.tx(async (tx) => {
      const role = await changeable(tx, name)
      const permissions = goes ? [] : changed(role.permissions, { add, remove })
      return { role, permissions, holders: await principals.holders(tx, name) }
    }),

  clone: ({ name, new_name }, call) =>
    db.tx(async (tx) => {
      const role = await roles.find(tx, name)
      if (!role) throw invalid(`Role '${name}' not found`)
      const { permissions } = role
      return create(tx, { name: newRoleIn('new_name', new_name), permissions }, originOf(call))
    }),
})

type New = Pick<Role, 'name' | 'permissions'>

async function create(tx: Tx, { name, permissions }: New, by: Origin): Promise<Role> {
  if ((await roles.insert(tx, name, permissions)) === 0)
    throw conflict(`Role '${name}' already exists`)
  const detail = { permissions }
  await record(tx, by, { action: 'role.create', object: objects.role(name), detail })
  return { name, permissions, built_in: false }
}

async function changeable(tx: Tx, name: string): Promise<Role> {
  const role = await roles.lock(tx, name)
  if (!role) throw invalid(`Role '${name}' not found`)
  if (role.built_in) throw invalid(`Built-in role '${name}' cannot be changed or deleted`)
  return role
}
