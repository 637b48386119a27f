import { PathSegment, path } from '@windlass/api-client/path'
import { deleteCommand } from './delete-command.ts'
import { readCommand } from './read-command.ts'

const toSessionId = (text: string) =>
  PathSegment.parse('id of a session', /^[A-Za-z0-9_-]{43}$/, text)

export const sessionList = readCommand({
  words: 'session list',
  args: [],
  about: 'List your sessions of the console, newest first',
  pathOf: () => path`/console/sessions`,
  table: {
    member: 'sessions',
    columns: ['id', 'created_at', 'last_used_at', 'current', 'user_agent'],
  },
})

export const sessionRevoke = deleteCommand({
  words: 'session revoke',
  arg: 'session_id',
  about: 'End one of your sessions of the console, by its id in session list',
  pathOf: (id) => path`/console/sessions/${toSessionId(id)}`,
})
