import { objects } from '@windlass/domain/audit'
import { z } from 'zod'
import { onBehalfOf } from '../access/caller.ts'
import type { Clients } from '../clients/connect.ts'
import { batchOf, entryView } from '../domain/entries.ts'
import { route } from '../route/route.ts'
import { EntryView, entryName, names, newEntry, Values } from './entries.ts'
import { Success } from './schemas.ts'

type Deps = Pick<Clients, 'configs'>

export const listConfigs = route('get', '/admin/configs', {
  summary: 'List the names of configs',
  access: 'config:*:read',
  returns: z.array(z.string()),
  handle: async (_, { configs }: Deps) => (await configs.list({})).names,
})

export const putConfig = route('post', '/admin/configs', {
  summary: 'Create or replace a config; its value may be any JSON but null',
  access: 'config:*:manage',
  body: newEntry,
  returns: Success,
  audit: {
    action: 'config.put',
    object: ({ body }) => objects.config(body?.name),
    recorded: 'owner',
  },
  async handle({ body: { name, value }, caller, ctx }, { configs }: Deps) {
    const entry = { name, value_json: value.text }
    await configs.put({ entry }, onBehalfOf(ctx, caller))
    return { status: 'success' as const, message: `Config '${name}' saved successfully` }
  },
})

export const getConfig = route('get', '/admin/configs/{name}', {
  summary: 'Show a config with its value',
  access: 'config:*:read',
  params: { name: entryName },
  returns: EntryView,
  async handle({ params: { name } }, { configs }: Deps) {
    return entryView(await configs.get({ name }))
  },
})

export const deleteConfig = route('delete', '/admin/configs/{name}', {
  summary: 'Delete a config, if it is there',
  access: 'config:*:manage',
  params: { name: entryName },
  returns: Success,
  audit: {
    action: 'config.delete',
    object: ({ params }) => objects.config(params.name),
    recorded: 'owner',
  },
  async handle({ params: { name }, caller, ctx }, { configs }: Deps) {
    await configs.delete({ name }, onBehalfOf(ctx, caller))
    return { status: 'success' as const, message: `Config '${name}' deleted successfully` }
  },
})

export const getConfigs = route('post', '/admin/configs/batch', {
  summary: 'Fetch the values of several configs',
  access: 'may read configs',
  body: names,
  returns: Values,
  async handle({ body }, { configs }: Deps) {
    const { entries } = await configs.getMany({ names: body })
    return batchOf(body, entries, 'configs')
  },
})
