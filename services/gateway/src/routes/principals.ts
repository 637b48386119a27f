import { objects } from '@windlass/domain/audit'
import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import { z } from 'zod'
import { type Caller, onBehalfOf } from '../access/caller.ts'
import type { Clients } from '../clients/connect.ts'
import type { RequestContext } from '../http/request-context.ts'
import { json } from '../route/body.ts'
import { flag } from '../route/fields.ts'
import { route } from '../route/route.ts'
import {
  type Asked,
  atIssuer,
  label,
  objectOf,
  PrincipalView,
  plain,
  plainName,
  principalType,
  refOf,
  subject,
  viewOf,
} from './principal-views.ts'
import { Success } from './schemas.ts'

type Deps = Pick<Clients, 'principals'>

const MAX_ROLES = 100

export const listPrincipals = route('get', '/admin/principals', {
  summary: 'List principals, of one type or of both',
  access: 'admin:principals:read',
  query: { type: principalType.optional() },
  returns: z.array(PrincipalView),
  async handle({ query }, deps: Deps) {
    const { principals } = await deps.principals.list({ type: query.type ?? '' })
    return principals.map(viewOf)
  },
})

export const createPrincipal = route('post', '/admin/principals', {
  summary: 'Create a principal',
  access: 'admin:principals:manage',
  body: json(
    z
      .object({
        type: principalType,
        subject: label,
        external_issuer: label.nullish(),
        display_name: label.nullish(),
        roles: z.array(plain).max(MAX_ROLES).nullish(),
      })
      .meta({ id: 'PrincipalCreateRequest' }),
  ),
  returns: PrincipalView,
  status: 201,
  audit: {
    action: 'principal.create',
    object: ({ body }) =>
      objects.principal(body?.subject, body?.external_issuer ?? INTERNAL_ISSUER),
    recorded: 'owner',
  },
  handle: async ({ body, caller, ctx }, { principals }: Deps) =>
    viewOf(
      await principals.create(
        {
          type: body.type,
          subject: body.subject,
          external_issuer: body.external_issuer ?? INTERNAL_ISSUER,
          display_name: body.display_name ?? undefined,
          roles: body.roles ?? [],
        },
        onBehalfOf(ctx, caller),
      ),
    ),
})

export const getPrincipal = route('get', '/admin/principals/{subject}', {
  summary: 'Show a principal',
  access: 'admin:principals:read',
  params: { subject },
  query: atIssuer,
  returns: PrincipalView,
  handle: async ({ params, query }, { principals }: Deps) =>
    viewOf(await principals.get(refOf({ params, query }))),
})

export const updatePrincipal = route('patch', '/admin/principals/{subject}', {
  summary: 'Change a principal; absent and null members stay unchanged',
  access: 'admin:principals:manage',
  params: { subject },
  query: atIssuer,
  body: json(
    z
      .object({ display_name: label.nullish(), enabled: z.boolean().nullish() })
      .meta({ id: 'PrincipalUpdateRequest' }),
  ),
  returns: PrincipalView,
  audit: { action: 'principal.update', object: objectOf, recorded: 'owner' },
  handle: async ({ params, query, body, caller, ctx }, { principals }: Deps) =>
    viewOf(
      await principals.update(
        {
          principal: refOf({ params, query }),
          display_name: body.display_name ?? undefined,
          enabled: body.enabled ?? undefined,
        },
        onBehalfOf(ctx, caller),
      ),
    ),
})

export const deletePrincipal = route('delete', '/admin/principals/{subject}', {
  summary: 'Delete a principal; with force=true its keys too',
  access: 'admin:principals:manage',
  params: { subject },
  query: { ...atIssuer, force: flag.default(false) },
  returns: Success,
  audit: { action: 'principal.delete', object: objectOf, recorded: 'owner' },
  async handle({ params, query, caller, ctx }, { principals }: Deps) {
    const principal = refOf({ params, query })
    await principals.delete({ principal, force: query.force }, onBehalfOf(ctx, caller))
    return { status: 'success' as const, message: `Principal '${params.subject}' deleted` }
  },
})

const Switched = z
  .object({ status: z.literal('success'), subject: z.string(), enabled: z.boolean() })
  .meta({ id: 'PrincipalSwitched' })

interface Switch extends Asked {
  caller: Caller
  ctx: RequestContext
}

async function setEnabled(
  { principals }: Deps,
  { caller, ctx, ...target }: Switch,
  enabled: boolean,
) {
  const { subject } = await principals.update(
    { principal: refOf(target), enabled },
    onBehalfOf(ctx, caller),
  )
  return { status: 'success' as const, subject, enabled }
}

export const enablePrincipal = route('post', '/admin/principals/{subject}/enable', {
  summary: 'Enable a principal',
  access: 'admin:principals:manage',
  params: { subject },
  query: atIssuer,
  returns: Switched,
  audit: { action: 'principal.update', object: objectOf, recorded: 'owner' },
  handle: (input, deps: Deps) => setEnabled(deps, input, true),
})

export const disablePrincipal = route('post', '/admin/principals/{subject}/disable', {
  summary: 'Disable a principal; effective before the response',
  access: 'admin:principals:manage',
  params: { subject },
  query: atIssuer,
  returns: Switched,
  audit: { action: 'principal.update', object: objectOf, recorded: 'owner' },
  handle: (input, deps: Deps) => setEnabled(deps, input, false),
})

const RoleDone = z
  .object({ status: z.literal('success'), role: z.string() })
  .meta({ id: 'RoleAssigned' })

export const grantRole = route('post', '/admin/principals/{subject}/roles', {
  summary: 'Grant a role to a principal',
  access: 'admin:principals:manage',
  params: { subject },
  query: atIssuer,
  body: json(z.object({ role: plain }).meta({ id: 'RoleGrantRequest' })),
  returns: RoleDone,
  audit: { action: 'principal.grant_role', object: objectOf, recorded: 'owner' },
  async handle({ params, query, body: { role }, caller, ctx }, { principals }: Deps) {
    const principal = refOf({ params, query })
    await principals.grantRole({ principal, role }, onBehalfOf(ctx, caller))
    return { status: 'success' as const, role }
  },
})

export const revokeRole = route('delete', '/admin/principals/{subject}/roles/{role_name}', {
  summary: 'Revoke a role from a principal, if it has the role',
  access: 'admin:principals:manage',
  params: { subject, role_name: plainName },
  query: atIssuer,
  returns: RoleDone,
  audit: { action: 'principal.revoke_role', object: objectOf, recorded: 'owner' },
  async handle({ params, query, caller, ctx }, { principals }: Deps) {
    const { role_name: role } = params
    const principal = refOf({ params, query })
    await principals.revokeRole({ principal, role }, onBehalfOf(ctx, caller))
    return { status: 'success' as const, role }
  },
})
