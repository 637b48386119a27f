import { path, toRoleName } from '@windlass/api-client/path'
import { getMembers, toJsonObject } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { type CommandContext, type ParsedArguments, UsageError } from '../command.ts'
import { listJson } from '../input.ts'
import { printMessage, printRows } from '../output.ts'
import { readCommand } from './read-command.ts'
import { revisionOf, revisionOption } from './revision-option.ts'
import { sendCommand } from './send-command.ts'

const rolePath = (name = '') => path`/admin/roles/${toRoleName(name)}`

export const roleList = readCommand({
  words: 'role list',
  args: [],
  about: 'List the roles with their permissions, the built-in ones first',
  pathOf: () => path`/admin/roles`,
  table: { columns: ['name', 'built_in', 'permissions'] },
})

export const roleShow = readCommand({
  words: 'role show',
  args: ['name'],
  about: 'Show a role with its permissions and its revision',
  pathOf: ([name]) => `${rolePath(name)}?detailed=true`,
})

export const roleCreate = sendCommand({
  words: 'role create',
  args: ['name'],
  about: 'Create a role, such as one with `workflow:team:*,execution:team:*,schedule:team:*`',
  options: {
    permissions: { type: 'string', value: 'a,b', about: 'its permissions (docs/access.md)' },
  },
  requestOf({ args: [name = ''], options: { permissions } }) {
    toRoleName(name)
    const body = toJsonObject({ name: quote(name), permissions: listJson(permissions) })
    return { method: 'POST', path: path`/admin/roles`, body }
  },
})

export const roleClone = sendCommand({
  words: 'role clone',
  args: ['name', 'new_name'],
  about: 'Create a role with the permissions of another one',
  requestOf({ args: [name, newName = ''] }) {
    toRoleName(newName)
    const body = toJsonObject({ new_name: quote(newName) })
    return { method: 'POST', path: `${rolePath(name)}/clone`, body }
  },
})

const changeOptions = {
  add: { type: 'string', value: 'a,b', about: 'permissions to add' },
  remove: { type: 'string', value: 'a,b', about: 'permissions to remove, after those to add' },
} as const

const changeOf = ({ options: { add, remove } }: ParsedArguments) => ({
  add_permissions: listJson(add),
  remove_permissions: listJson(remove),
})

export const roleUpdate = sendCommand({
  words: 'role update',
  args: ['name'],
  about: 'Add permissions to a role, and remove others; role simulate shows the effect before',
  options: { ...changeOptions, ...revisionOption },
  requestOf(parsed) {
    const { add, remove } = parsed.options
    if (add === undefined && remove === undefined)
      throw new UsageError('name the change: --add or --remove')
    const body = toJsonObject(changeOf(parsed))
    const ifRevision = revisionOf(parsed)
    return { method: 'PATCH', path: rolePath(parsed.args[0]), body, ifRevision }
  },
})

export const roleSimulate = sendCommand({
  words: 'role simulate',
  args: ['name'],
  about: 'Show whom a change or the deletion of a role would give and take which permissions',
  options: { ...changeOptions, delete: { type: 'boolean', about: 'delete the role' } },
  requestOf(parsed) {
    const { add, remove, delete: deletes } = parsed.options
    if ((add ?? remove ?? deletes) === undefined)
      throw new UsageError('name the change: --add, --remove or --delete')
    const body = toJsonObject({ ...changeOf(parsed), delete: deletes ? 'true' : undefined })
    const route = `${rolePath(parsed.args[0])}/simulate`
    return { method: 'POST', path: route, body, repeatability: 'repeatable' }
  },
  print: printEffect,
})

function printEffect(answer: string, parsed: ParsedArguments, context: CommandContext): void {
  const { holders, principals = 'null' } = getMembers(answer, ['holders', 'principals'])
  if (principals === 'null')
    context.out(
      `principals with the role: ${holders}; to see them you need admin:principals:read\n`,
    )
  else {
    context.out(`principals with the role: ${holders}; with their other roles, this changes:\n`)
    printRows(principals, ['subject', 'type', 'enabled', 'granted', 'taken'], parsed, context)
  }
}

export const roleDelete = sendCommand({
  words: 'role delete',
  args: ['name'],
  about: 'Delete a role, and revoke it of its principals',
  requestOf: ({ args: [name] }) => ({ method: 'DELETE', path: rolePath(name) }),
  print: (answer, _, context) => printMessage(context, answer),
})
