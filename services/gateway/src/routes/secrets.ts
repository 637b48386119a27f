import { z } from 'zod'
import { batchOf, entryView } from '../domain/entries.ts'
import { route } from '../route.ts'
import { EntryView, entryName, names, newEntry, unkept, Values } from './entries.ts'
import { Success } from './schemas.ts'

export const listSecrets = route('get', '/admin/secrets', {
  summary: 'List the names of secrets',
  access: 'admin:secrets:read',
  returns: z.array(z.string()),
  handle: async ({ services }) => (await services.secrets.list({})).names,
})

export const putSecret = route('post', '/admin/secrets', {
  summary: 'Create or replace a secret; its value may be any JSON but null',
  access: 'admin:secrets:manage',
  body: newEntry,
  returns: Success,
  async handle({ body: { name, value }, services }) {
    await services.secrets.put({ entry: { name, value_json: value.text } })
    return { status: 'success' as const, message: `Secret '${name}' saved successfully` }
  },
})

export const getSecret = route('get', '/admin/secrets/{name}', {
  summary: 'Show a secret with its value',
  access: 'admin:secrets:read',
  params: { name: entryName },
  returns: EntryView,
  async handle({ params: { name }, services, x }) {
    unkept(x)
    return entryView(await services.secrets.get({ name }))
  },
})

export const deleteSecret = route('delete', '/admin/secrets/{name}', {
  summary: 'Delete a secret, if it is there',
  access: 'admin:secrets:manage',
  params: { name: entryName },
  returns: Success,
  async handle({ params: { name }, services }) {
    await services.secrets.delete({ name })
    return { status: 'success' as const, message: `Secret '${name}' deleted successfully` }
  },
})

export const getSecrets = route('post', '/admin/secrets/batch', {
  summary: 'Fetch the values of several secrets',
  access: 'admin:secrets:read',
  body: names,
  returns: Values,
  async handle({ body, services, x }) {
    unkept(x)
    const { entries } = await services.secrets.getMany({ names: body })
    return batchOf(body, entries, 'secrets')
  },
})
