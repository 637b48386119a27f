import { z } from 'zod'
import { batchOf, entryView } from '../domain/entries.ts'
import { route } from '../route.ts'
import { EntryView, entryName, names, newEntry, Values } from './entries.ts'
import { Success } from './schemas.ts'

export const listConfigs = route('get', '/admin/configs', {
  summary: 'List the names of configs',
  access: 'config:*:read',
  returns: z.array(z.string()),
  handle: async ({ services }) => (await services.configs.list({})).names,
})

export const putConfig = route('post', '/admin/configs', {
  summary: 'Create or replace a config; its value may be any JSON but null',
  access: 'config:*:manage',
  body: newEntry,
  returns: Success,
  async handle({ body: { name, value }, services }) {
    await services.configs.put({ entry: { name, value_json: value.text } })
    return { status: 'success' as const, message: `Config '${name}' saved successfully` }
  },
})

export const getConfig = route('get', '/admin/configs/{name}', {
  summary: 'Show a config with its value',
  access: 'config:*:read',
  params: { name: entryName },
  returns: EntryView,
  async handle({ params: { name }, services }) {
    return entryView(await services.configs.get({ name }))
  },
})

export const deleteConfig = route('delete', '/admin/configs/{name}', {
  summary: 'Delete a config, if it is there',
  access: 'config:*:manage',
  params: { name: entryName },
  returns: Success,
  async handle({ params: { name }, services }) {
    await services.configs.delete({ name })
    return { status: 'success' as const, message: `Config '${name}' deleted successfully` }
  },
})

export const getConfigs = route('post', '/admin/configs/batch', {
  summary: 'Fetch the values of several configs',
  access: 'may read configs',
  body: names,
  returns: Values,
  async handle({ body, services }) {
    const { entries } = await services.configs.getMany({ names: body })
    return batchOf(body, entries, 'configs')
  },
})
