import { objects } from '@windlass/domain/audit'
import type { Role } from '@windlass/proto/windlass/identity/v1/principals'
import { z } from 'zod'
import { hasPermission, onBehalfOf } from '../access/caller.ts'
import type { Clients } from '../clients/connect.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { effectOf } from '../domain/simulation.ts'
import { json } from '../route/body.ts'
import { flag } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { changeHeaders, readPrecondition, sendRevision } from './preconditions.ts'
import { plain } from './principal-views.ts'
import { Success } from './schemas.ts'

type Deps = Pick<Clients, 'roles'>

const RoleView = z
  .object({
    name: z.string(),
    permissions: z.array(z.string()),
    built_in: z.boolean(),
    /** With `?detailed=true`. */
    revision: z.string().optional(),
  })
  .meta({ id: 'Role' })

/** Adds the revision, which clients of the original contract do not expect. */
const query = { detailed: flag.default(false) }

const viewOf = ({ revision, ...role }: Role, { detailed } = { detailed: false }) =>
  detailed && revision !== undefined ? { ...role, revision } : role

/** Identity validates the grammar of permissions. */
const permissions = z.array(z.string()).max(1_000)

export const listRoles = route('get', '/admin/roles', {
  summary: 'List roles, the built-in ones first',
  access: 'admin:roles:read',
  query,
  returns: z.array(RoleView),
  handle: async ({ query }, { roles }: Deps) =>
    (await roles.list({})).roles.map((role) => viewOf(role, query)),
})

export const getRole = route('get', '/admin/roles/{name}', {
  summary: 'Show a role',
  access: 'admin:roles:read',
  query,
  returns: RoleView,
  async handle({ params: { name }, query, ctx }, { roles }: Deps) {
    const role = await roles.get({ name })
    sendRevision(ctx, role.revision)
    return viewOf(role, query)
  },
})

export const createRole = route('post', '/admin/roles', {
  summary: 'Create a role',
  access: 'admin:roles:manage',
  body: json(
    z.object({ name: plain, permissions: permissions.nullish() }).meta({ id: 'RoleRequest' }),
    { size: 'names' },
  ),
  returns: RoleView,
  audit: {
    action: 'role.create',
    object: ({ body }) => objects.role(body?.name),
    recorded: 'owner',
  },
  handle: async ({ body: { name, permissions }, caller, ctx }, { roles }: Deps) =>
    viewOf(await roles.create({ name, permissions: permissions ?? [] }, onBehalfOf(ctx, caller))),
})

export const updateRole = route('patch', '/admin/roles/{name}', {
  summary: 'Add permissions to a role, then remove others',
  access: 'admin:roles:manage',
  headers: changeHeaders,
  body: json(
    z
      .object({ add_permissions: permissions.nullish(), remove_permissions: permissions.nullish() })
      .meta({ id: 'RoleUpdateRequest' }),
    { size: 'names' },
  ),
  returns: RoleView,
  audit: {
    action: 'role.update',
    object: ({ params }) => objects.role(params.name),
    recorded: 'owner',
  },
  async handle({ params: { name }, body, caller, ctx }, { roles }: Deps) {
    const update = {
      name,
      add_permissions: body.add_permissions ?? [],
      remove_permissions: body.remove_permissions ?? [],
    }
    const by = onBehalfOf(ctx, caller)
    const precondition = readPrecondition(ctx)
    const role = await (precondition
      ? orUpgrade(roles.updateIf({ update, precondition }, by), 'identity')
      : roles.update(update, by))
    sendRevision(ctx, role.revision)
    return viewOf(role)
  },
})

export const deleteRole = route('delete', '/admin/roles/{name}', {
  summary: 'Delete a role and revoke it of its principals',
  access: 'admin:roles:manage',
  returns: Success,
  audit: {
    action: 'role.delete',
    object: ({ params }) => objects.role(params.name),
    recorded: 'owner',
  },
  async handle({ params: { name }, caller, ctx }, { roles }: Deps) {
    await roles.delete({ name }, onBehalfOf(ctx, caller))
    return { status: 'success' as const, message: `Role '${name}' deleted` }
  },
})

export const cloneRole = route('post', '/admin/roles/{name}/clone', {
  summary: 'Create a role with the permissions of another',
  access: 'admin:roles:manage',
  body: json(z.object({ new_name: plain }).meta({ id: 'RoleCloneRequest' })),
  returns: RoleView,
  audit: {
    action: 'role.create',
    object: ({ body }) => objects.role(body?.new_name),
    recorded: 'owner',
  },
  handle: async ({ params: { name }, body: { new_name }, caller, ctx }, { roles }: Deps) =>
    viewOf(await roles.clone({ name, new_name }, onBehalfOf(ctx, caller))),
})

const effect = { granted: permissions, taken: permissions }

export const simulateRole = route('post', '/admin/roles/{name}/simulate', {
  summary: 'Show which permissions a change or the deletion of a role would grant and withdraw',
  access: 'admin:roles:read',
  body: json(
    z
      .object({
        add_permissions: permissions.nullish(),
        remove_permissions: permissions.nullish(),
        delete: z.boolean().nullish(),
      })
      .refine(
        (body) => !body.delete || !(body.add_permissions ?? body.remove_permissions),
        'is either deleted or changed',
      )
      .meta({ id: 'RoleSimulateRequest' }),
    { size: 'names' },
  ),
  returns: z
    .object({
      role: z.string(),
      /** Null for a deletion. */
      permissions: permissions.nullable(),
      ...effect,
      /**
       * Principals that gain or lose permissions, with their other roles considered; null without
       * admin:principals:read.
       */
      principals: z
        .array(
          z.object({
            subject: z.string(),
            external_issuer: z.string(),
            type: z.string(),
            enabled: z.boolean(),
            ...effect,
          }),
        )
        .nullable(),
      /** Number of principals with the role. */
      holders: z.int(),
    })
    .meta({ id: 'RoleSimulation' }),
  async handle({ params: { name }, body, caller }, { roles }: Deps) {
    const deletes = body.delete ?? false
    const simulated = await roles.simulate({
      name,
      add_permissions: body.add_permissions ?? [],
      remove_permissions: body.remove_permissions ?? [],
      delete: deletes,
    })
    const { role, permissions: after, holders } = simulated
    const before = role?.permissions ?? []
    const concerned = holders.flatMap(({ principal, other_permissions: others }) => {
      const effect = effectOf({ before, after, others })
      if (!principal || effect.granted.length + effect.taken.length === 0) return []
      const { subject, external_issuer, type, enabled } = principal
      return [{ subject, external_issuer, type, enabled, ...effect }]
    })
    return {
      role: name,
      permissions: deletes ? null : after,
      ...effectOf({ before, after }),
      principals: hasPermission(caller, 'admin:principals:read') ? concerned : null,
      holders: holders.length,
    }
  },
})
