import { path, toViewName } from '@windlass/api-client/path'
import { toJsonObject } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { messageResult, selectMembers, wrapAs } from './shared.ts'

const nameArg = { view_name: z.string().describe('Name of the view') }

export const saveView = defineTool({
  name: 'save_view',
  title: 'Save view',
  description: 'Save a screen of the console with its filters, or replace that of the same name.',
  args: {
    ...nameArg,
    screen: z.string().describe('Name of the screen, such as executions'),
    query: z.string().default('').describe('Its filters, such as state=failed'),
  },
  request: ({ view_name, screen, query }) => ({
    method: 'PUT',
    path: path`/me/views/${toViewName(view_name)}`,
    body: toJsonObject({ screen: quote(screen), query: quote(query) }),
  }),
  ...wrapAs('view'),
  doing: 'saving view',
  effect: 'updates',
})

export const listViews = defineTool({
  name: 'list_views',
  title: 'List views',
  description: 'List your saved views, by name.',
  args: {},
  request: () => ({ method: 'GET', path: path`/me/views` }),
  ...selectMembers({ views: z.array(z.unknown()) }),
  doing: 'listing views',
  effect: 'reads',
})

export const deleteView = defineTool({
  name: 'delete_view',
  title: 'Delete view',
  description: 'Delete one of your saved views.',
  args: nameArg,
  request: ({ view_name }) => ({
    method: 'DELETE',
    path: path`/me/views/${toViewName(view_name)}`,
  }),
  ...messageResult,
  errors: { 404: ({ view_name }) => `View '${view_name}' not found` },
  doing: 'deleting view',
  effect: 'deletes',
})
