import { objects } from '@windlass/domain/audit'
import { z } from 'zod'
import { onBehalfOf } from '../access/caller.ts'
import type { Clients } from '../clients/connect.ts'
import { batchOf, entryView } from '../domain/entries.ts'
import { integer, text } from '../route/fields.ts'
import { route } from '../route/route.ts'
import {
  detailedQuery,
  EntryList,
  EntryView,
  entryName,
  isPrevious,
  listEntries,
  names,
  newSecret,
  putEntry,
  SavedEntry,
  savedEntry,
  secretVersion,
  toEntry,
  unkept,
  Values,
} from './entry-routes.ts'
import { putHeaders, sendRevision } from './preconditions.ts'
import { Success } from './schemas.ts'

type Deps = Pick<Clients, 'secrets'>

export const listSecrets = route('get', '/admin/secrets', {
  summary: 'List the names of secrets',
  access: 'admin:secrets:read',
  query: detailedQuery,
  returns: EntryList,
  handle: async ({ query }, { secrets }: Deps) => listEntries(await secrets.list({}), query),
})

export const putSecret = route('post', '/admin/secrets', {
  summary: 'Create or replace a secret; its value may be any JSON but null',
  access: 'admin:secrets:manage',
  headers: putHeaders,
  body: newSecret,
  returns: SavedEntry,
  audit: {
    action: 'secret.put',
    object: ({ body }) => objects.secret(body?.name),
    recorded: 'owner',
  },
  async handle({ body, caller, ctx }, { secrets }: Deps) {
    const request = { entry: toEntry(body), keep_previous: body.keep_previous }
    return savedEntry('Secret', body.name, await putEntry(secrets, request, { caller, ctx }))
  },
})

export const getSecret = route('get', '/admin/secrets/{name}', {
  summary: 'Show a secret with its value',
  access: 'admin:secrets:read',
  params: { name: entryName },
  query: { ...detailedQuery, version: secretVersion },
  returns: EntryView,
  audit: {
    action: 'secret.read',
    object: ({ params }) => objects.secret(params.name),
    recorded: 'after',
  },
  async handle({ params: { name }, query, ctx }, { secrets }: Deps) {
    unkept(ctx)
    const entry = await secrets.get({ name, previous: isPrevious(query) })
    sendRevision(ctx, entry.revision)
    return entryView(entry, query.detailed)
  },
})

export const deleteSecret = route('delete', '/admin/secrets/{name}', {
  summary: 'Delete a secret, if it exists',
  access: 'admin:secrets:manage',
  params: { name: entryName },
  returns: Success,
  audit: {
    action: 'secret.delete',
    object: ({ params }) => objects.secret(params.name),
    recorded: 'owner',
  },
  async handle({ params: { name }, caller, ctx }, { secrets }: Deps) {
    await secrets.delete({ name }, onBehalfOf(ctx, caller))
    return { status: 'success' as const, message: `Secret '${name}' deleted successfully` }
  },
})

export const getSecrets = route('post', '/admin/secrets/batch', {
  summary: 'Fetch the values of several secrets',
  access: 'admin:secrets:read',
  query: { version: secretVersion },
  body: names,
  returns: Values,
  audit: {
    action: 'secret.read',
    object: ({ body }) => body?.map(objects.secret) ?? objects.secret(),
    recorded: 'after',
  },
  async handle({ body, query, ctx }, { secrets }: Deps) {
    unkept(ctx)
    const { entries } = await secrets.getMany({ names: body, previous: isPrevious(query) })
    return batchOf(body, entries, 'secrets')
  },
})

export const rotateKey = route('post', '/admin/secrets/rotate-key', {
  summary: 'Re-encrypt a page of the secrets that are under an earlier key; continue from next',
  access: 'admin:secrets:manage',
  query: { after: text(255).default(''), limit: integer({ min: 1, max: 1000 }).default(100) },
  returns: z
    .object({
      key_id: z.string(),
      rotated: z.int(),
      remaining: z.int(),
      /** Names of those that no configured key decrypts. */
      unreadable: z.array(z.string()),
      next: z.string().nullable(),
    })
    .meta({ id: 'KeyRotation' }),
  audit: { action: 'secret.rotate_key', object: () => objects.secret(), recorded: 'owner' },
  async handle({ query, caller, ctx }, { secrets }: Deps) {
    const { key_id, rotated, remaining, unreadable, next } = await secrets.rotateKey(
      query,
      onBehalfOf(ctx, caller),
    )
    return { key_id, rotated, remaining, unreadable, next: next ?? null }
  },
})
