import type { Role, RolesService } from '@windlass/proto/windlass/identity/v1/principals'
import type { Db, Queries, Tx } from '@windlass/runtime/db'
import { conflict, invalid, notFound } from '@windlass/runtime/faults'
import type { Redis } from '@windlass/runtime/redis'
import type { Handlers } from '@windlass/runtime/rpc'
import { changingRights } from '../changing-rights.ts'
import { changed, nameIn, permissionsOf } from '../domain/grants.ts'
import * as roles from '../store/roles.ts'

export const roleHandlers = (db: Db, redis: Redis): Handlers<typeof RolesService> => ({
  list: async () => ({ roles: await roles.list(db) }),

  async get({ name }) {
    const role = await roles.find(db, name)
    if (!role) throw notFound('Role', name)
    return role
  },

  create: ({ name, permissions }) => create(db, nameIn('name', name), permissionsOf(permissions)),

  update: ({ name, add_permissions: add, remove_permissions: remove }) =>
    changingRights(db, redis, async (tx) => {
      const role = await changeable(tx, name)
      const permissions = changed(role.permissions, { add, remove })
      await roles.setPermissions(tx, name, permissions)
      return { ...role, permissions }
    }),

  delete: ({ name }) =>
    changingRights(db, redis, async (tx) => {
      await changeable(tx, name)
      await roles.remove(tx, name)
      return {}
    }),

  async clone({ name, new_name }) {
    const role = await roles.find(db, name)
    if (!role) throw invalid(`Role '${name}' not found`)
    return create(db, nameIn('new_name', new_name), role.permissions)
  },
})

async function create(db: Queries, name: string, permissions: string[]): Promise<Role> {
  if ((await roles.insert(db, name, permissions)) === 0)
    throw conflict(`Role '${name}' already exists`)
  return { name, permissions, built_in: false }
}

async function changeable(tx: Tx, name: string): Promise<Role> {
  const role = await roles.lock(tx, name)
  if (!role) throw invalid(`Role '${name}' not found`)
  if (role.built_in) throw invalid(`Built-in role '${name}' cannot be changed or deleted`)
  return role
}
