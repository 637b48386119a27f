import type { ApiRequest } from '@windlass/api-client/http-client'
import { path, toRoleName, toSubject } from '@windlass/api-client/path'
import { toJsonObject } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { type Command, type ParsedArguments, UsageError } from '../command.ts'
import { listJson } from '../input.ts'
import { printMessage } from '../output.ts'
import { escapeLine } from '../terminal-text.ts'
import { readCommand } from './read-command.ts'
import { sendCommand } from './send-command.ts'

/** A subject is a name in the namespace of its issuer. */
export const issuerOption = {
  issuer: {
    type: 'string',
    value: 'URL',
    about: 'the OpenID issuer of its subject; without it a principal of this server',
  },
} as const

export const issuerOf = ({ options }: ParsedArguments) => ({ issuer: options.issuer?.toString() })

export const principalPath = (subject = '') => path`/admin/principals/${toSubject(subject)}`

const nameOption = {
  'display-name': { type: 'string', value: 'TEXT', about: 'the name that people read' },
} as const

const textOf = (value: string | boolean | undefined) =>
  value === undefined ? undefined : quote(String(value))

export const principalList = readCommand({
  words: 'principal list',
  args: [],
  about: 'List the principals: users and service accounts',
  query: { type: { value: 'TYPE', about: 'only of this type: user or service_account' } },
  pathOf: () => path`/admin/principals`,
  table: { columns: ['subject', 'type', 'enabled', 'roles', 'display_name', 'external_issuer'] },
})

export const principalShow = readCommand({
  words: 'principal show',
  args: ['subject'],
  about: 'Show a principal with its roles',
  query: { issuer: issuerOption.issuer },
  pathOf: ([subject]) => principalPath(subject),
})

export const principalCreate = sendCommand({
  words: 'principal create',
  args: ['subject'],
  about: 'Create a service account, which can have keys, or with --type user a person',
  options: {
    type: { type: 'string', value: 'TYPE', about: 'service_account (default) or user' },
    roles: { type: 'string', value: 'a,b', about: 'its roles, which role list shows' },
    ...nameOption,
    ...issuerOption,
  },
  requestOf({ args: [subject = ''], options }) {
    toSubject(subject)
    const { type = 'service_account', roles, issuer, 'display-name': name } = options
    const body = toJsonObject({
      type: quote(String(type)),
      subject: quote(subject),
      external_issuer: textOf(issuer),
      display_name: textOf(name),
      roles: listJson(roles),
    })
    return { method: 'POST', path: path`/admin/principals`, body }
  },
})

export const principalUpdate = sendCommand({
  words: 'principal update',
  args: ['subject'],
  about: 'Change the display name of a principal',
  options: { ...nameOption, ...issuerOption },
  requestOf(parsed) {
    const name = parsed.options['display-name']
    if (name === undefined) throw new UsageError('name the change: --display-name TEXT')
    const body = toJsonObject({ display_name: textOf(name) })
    return { method: 'PATCH', path: principalPath(parsed.args[0]), query: issuerOf(parsed), body }
  },
})

const actOn = (
  { args: [subject], ...parsed }: ParsedArguments,
  method: ApiRequest['method'],
  rest = '',
): ApiRequest => ({
  method,
  path: `${principalPath(subject)}${rest}`,
  query: issuerOf({ args: [], ...parsed }),
})

const switchCommand = (verb: 'enable' | 'disable', about: string): Command =>
  sendCommand({
    words: `principal ${verb}`,
    args: ['subject'],
    about,
    options: issuerOption,
    requestOf: (parsed) => actOn(parsed, 'POST', `/${verb}`),
    print: (_, { args: [subject = ''] }, { out }) =>
      out(`Principal '${escapeLine(subject)}' ${verb}d\n`),
  })

export const principalEnable = switchCommand('enable', 'Enable a disabled principal')
export const principalDisable = switchCommand(
  'disable',
  'Refuse a principal from now on, and skip its schedules, without deleting anything',
)

export const principalDelete = sendCommand({
  words: 'principal delete',
  args: ['subject'],
  about: 'Delete a principal; one that has keys only with --force',
  options: { force: { type: 'boolean', about: 'delete its keys too' }, ...issuerOption },
  requestOf(parsed) {
    const force = parsed.options.force ? 'true' : undefined
    const request = actOn(parsed, 'DELETE')
    return { ...request, query: { ...request.query, force } }
  },
  print: (answer, _, context) => printMessage(context, answer),
})

export const principalGrantRole = sendCommand({
  words: 'principal grant-role',
  args: ['subject', 'role'],
  about: 'Give a role to a principal',
  options: issuerOption,
  requestOf(parsed) {
    const role = parsed.args[1] ?? ''
    toRoleName(role)
    return { ...actOn(parsed, 'POST', '/roles'), body: toJsonObject({ role: quote(role) }) }
  },
  print: (_, { args: [subject = '', role = ''] }, { out }) =>
    out(`Role '${role}' granted to '${escapeLine(subject)}'\n`),
})

export const principalRevokeRole = sendCommand({
  words: 'principal revoke-role',
  args: ['subject', 'role'],
  about: 'Take a role from a principal; no later request is decided with it',
  options: issuerOption,
  requestOf: (parsed) => actOn(parsed, 'DELETE', path`/roles/${toRoleName(parsed.args[1] ?? '')}`),
  print: (_, { args: [subject = '', role = ''] }, { out }) =>
    out(`Role '${role}' revoked from '${escapeLine(subject)}'\n`),
})
