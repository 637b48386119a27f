import { path, toViewName } from '@windlass/api-client/path'
import { toJsonObject } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { createApiCall, serverOptions } from '../api-call.ts'
import type { Command } from '../command.ts'
import { jsonOption, printJson } from '../output.ts'
import { deleteCommand } from './delete-command.ts'
import { readCommand } from './read-command.ts'
import { revisionOf, revisionOption } from './revision-option.ts'

export const viewList = readCommand({
  words: 'view list',
  args: [],
  about: 'List your saved views: a screen of the console with its filters',
  pathOf: () => path`/me/views`,
  table: { member: 'views', columns: ['name', 'screen', 'query', 'updated_at', 'revision'] },
})

export const viewSave: Command = {
  words: 'view save',
  args: ['name', 'screen', 'query?'],
  about: 'Save a view, such as `failed executions state=failed`, or replace that of the name',
  options: { ...revisionOption, ...serverOptions, ...jsonOption },
  async run(parsed, context) {
    const [name = '', screen = '', query = ''] = parsed.args
    const body = toJsonObject({ screen: quote(screen), query: quote(query) })
    const view = path`/me/views/${toViewName(name)}`
    const request = { method: 'PUT', path: view, body, ifRevision: revisionOf(parsed) } as const
    printJson(context, await createApiCall(parsed, context)(request))
    return 0
  },
}

export const viewDelete = deleteCommand({
  words: 'view delete',
  about: 'Delete one of your saved views',
  pathOf: (name) => path`/me/views/${toViewName(name)}`,
})
