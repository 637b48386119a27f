import { objects } from '@windlass/domain/audit'
import { z } from 'zod'
import { onBehalfOf } from '../access/caller.ts'
import { type Quotas, requireBelow } from '../access/quotas.ts'
import type { Clients } from '../clients/connect.ts'
import { json } from '../route/body.ts'
import { route } from '../route/route.ts'
import { unkept } from './entry-routes.ts'
import {
  type Asked,
  atIssuer,
  objectOf,
  plain,
  plainName,
  refOf,
  subject,
} from './principal-views.ts'
import { timeOf } from './responses.ts'
import { Success } from './schemas.ts'

type Deps = Pick<Clients, 'keys'> & { quotas: Quotas }

const MAX_DAYS = 36_500

const keyObject = (asked: Asked, name?: string) => objects.key(objectOf(asked), name)

export const createKey = route('post', '/admin/principals/{subject}/keys', {
  summary: 'Create an API key of a service account; the response alone contains it',
  access: 'admin:principals:manage',
  params: { subject },
  query: atIssuer,
  body: json(
    z
      .object({
        name: plain,
        /** 0 also means never. */
        expires_in_days: z.int().min(0).max(MAX_DAYS).nullish(),
        /** Patterns; the key has those permissions of its account that one covers; null: all. */
        permissions: z.array(z.string()).min(1).max(100).nullish(),
        /** Addresses and networks (CIDR) from which the key is accepted; null: any. */
        networks: z.array(z.string()).min(1).max(20).nullish(),
      })
      .meta({ id: 'APIKeyRequest' }),
  ),
  returns: z.object({ key: z.string() }).meta({ id: 'NewKey' }),
  status: 201,
  audit: {
    action: 'key.create',
    object: ({ params, query, body }) => keyObject({ params, query }, body?.name),
    recorded: 'owner',
  },
  async handle({ params, query, body, caller, ctx }, { keys, quotas }: Deps) {
    unkept(ctx)
    const { name, expires_in_days, permissions, networks } = body
    const principal = refOf({ params, query })
    const known = await keys.list(principal)
    const holder = { key: `principal ${principal.subject}`, limit: quotas.limits.principal_keys }
    requireBelow('keys', holder, known.keys.length)
    return keys.create(
      {
        principal,
        name,
        expires_in_days: expires_in_days ?? 0,
        ...((permissions || networks) && {
          limits: { permissions: permissions ?? [], networks: networks ?? [] },
        }),
      },
      onBehalfOf(ctx, caller),
    )
  },
})

export const listKeys = route('get', '/admin/principals/{subject}/keys', {
  summary:
    'List the API keys of a principal by prefix, with the time of last use; expired keys are included',
  access: 'admin:principals:read',
  params: { subject },
  query: atIssuer,
  returns: z.array(
    z
      .object({
        name: z.string(),
        prefix: z.string(),
        expires_at: z.string().nullable(),
        created_at: z.string().nullable(),
        /** To the minute; null if it was never used. */
        last_used_at: z.string().nullable(),
        /** Absent for a key that is not restricted. */
        permissions: z.array(z.string()).optional(),
        networks: z.array(z.string()).optional(),
      })
      .meta({ id: 'Key' }),
  ),
  async handle({ params, query }, deps: Deps) {
    const { keys } = await deps.keys.list(refOf({ params, query }))
    return keys.map(({ name, prefix, expires_at, created_at, last_used_at, limits }) => ({
      name,
      prefix,
      expires_at: timeOf(expires_at),
      created_at: timeOf(created_at),
      last_used_at: timeOf(last_used_at),
      ...(limits?.permissions.length && { permissions: limits.permissions }),
      ...(limits?.networks.length && { networks: limits.networks }),
    }))
  },
})

export const revokeKey = route('delete', '/admin/principals/{subject}/keys/{key_name}', {
  summary: 'Revoke an API key; effective before the response',
  access: 'admin:principals:manage',
  params: { subject, key_name: plainName },
  query: atIssuer,
  returns: Success,
  audit: {
    action: 'key.revoke',
    object: ({ params, query }) => keyObject({ params, query }, params.key_name),
    recorded: 'owner',
  },
  async handle({ params, query, caller, ctx }, { keys }: Deps) {
    const { key_name: name } = params
    const principal = refOf({ params, query })
    await keys.revoke({ principal, name }, onBehalfOf(ctx, caller))
    return { status: 'success' as const, message: `Key '${name}' revoked` }
  },
})
