import { path } from '@windlass/api-client/path'
import { getMembers } from '@windlass/api-client/payload'
import { stringOf } from '@windlass/runtime/json/json'
import type { CommandContext } from '../command.ts'
import { printTable, textsOf } from '../output.ts'
import { namespaceOfPermission } from '../permission-scope.ts'
import { escapeLine } from '../terminal-text.ts'
import { sendCommand } from './send-command.ts'

export const me = sendCommand({
  words: 'me',
  args: [],
  about: 'Show who you are: the principal of your token, its roles, and its rights by namespace',
  requestOf: () => ({ method: 'GET', path: path`/me` }),
  print: printMe,
})

function printMe(answer: string, _: unknown, context: CommandContext): void {
  const found = getMembers(answer, ['subject', 'issuer', 'roles', 'permissions', 'server_version'])
  const roles = textsOf(found.roles)
  const lines = [
    `subject  ${stringOf(found.subject)}`,
    `issuer   ${stringOf(found.issuer) ?? 'none: authentication is off'}`,
    `roles    ${roles.length > 0 ? roles.join(', ') : 'none'}`,
    `server   windlass ${stringOf(found.server_version)}`,
  ]
  context.out(`${lines.map(escapeLine).join('\n')}\n\n`)
  const rights = textsOf(found.permissions)
    .map((permission) => [namespaceOfPermission(permission), permission])
    .sort(([a = ''], [b = '']) => a.localeCompare(b, 'en'))
  printTable([['NAMESPACE', 'PERMISSION'], ...rights.map((row) => row.map(escapeLine))], context)
}
