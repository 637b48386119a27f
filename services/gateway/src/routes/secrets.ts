import { objects } from '@windlass/domain/audit'
import { z } from 'zod'
import { onBehalfOf } from '../access/caller.ts'
import type { Clients } from '../clients/connect.ts'
import { batchOf, entryView } from '../domain/entries.ts'
import { integer, text } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { EntryView, entryName, names, newEntry, unkept, Values } from './entries.ts'
import { Success } from './schemas.ts'

type Deps = Pick<Clients, 'secrets'>

export const listSecrets = route('get', '/admin/secrets', {
  summary: 'List the names of secrets',
  access: 'admin:secrets:read',
  returns: z.array(z.string()),
  handle: async (_, { secrets }: Deps) => (await secrets.list({})).names,
})

export const putSecret = route('post', '/admin/secrets', {
  summary: 'Create or replace a secret; its value may be any JSON but null',
  access: 'admin:secrets:manage',
  body: newEntry,
  returns: Success,
  audit: {
    action: 'secret.put',
    object: ({ body }) => objects.secret(body?.name),
    recorded: 'owner',
  },
  async handle({ body: { name, value }, caller, ctx }, { secrets }: Deps) {
    const entry = { name, value_json: value.text }
    await secrets.put({ entry }, onBehalfOf(ctx, caller))
    return { status: 'success' as const, message: `Secret '${name}' saved successfully` }
  },
})

export const getSecret = route('get', '/admin/secrets/{name}', {
  summary: 'Show a secret with its value',
  access: 'admin:secrets:read',
  params: { name: entryName },
  returns: EntryView,
  audit: {
    action: 'secret.read',
    object: ({ params }) => objects.secret(params.name),
    recorded: 'after',
  },
  async handle({ params: { name }, ctx }, { secrets }: Deps) {
    unkept(ctx)
    return entryView(await secrets.get({ name }))
  },
})

export const deleteSecret = route('delete', '/admin/secrets/{name}', {
  summary: 'Delete a secret, if it is there',
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
  body: names,
  returns: Values,
  audit: {
    action: 'secret.read',
    object: ({ body }) => body?.map(objects.secret) ?? objects.secret(),
    recorded: 'after',
  },
  async handle({ body, ctx }, { secrets }: Deps) {
    unkept(ctx)
    const { entries } = await secrets.getMany({ names: body })
    return batchOf(body, entries, 'secrets')
  },
})

export const rotateKey = route('post', '/admin/secrets/rotate-key', {
  summary: 'Re-encrypt some of the secrets under an earlier key; continue from next',
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
