import { path, toKeyName } from '@windlass/api-client/path'
import { toJsonObject } from '@windlass/api-client/payload'
import { membersOf, quote, stringOf } from '@windlass/runtime/json/json'
import { type ParsedArguments, UsageError } from '../command.ts'
import { listJson } from '../input.ts'
import { printMessage } from '../output.ts'
import { issuerOf, issuerOption, principalPath } from './principal.ts'
import { readCommand } from './read-command.ts'
import { sendCommand } from './send-command.ts'

const keysPath = ({ args: [subject] }: Pick<ParsedArguments, 'args'>) =>
  `${principalPath(subject)}/keys`

function daysOf(given: string | boolean | undefined): string | undefined {
  if (given === undefined) return undefined
  if (/^\d{1,5}$/.test(String(given))) return String(Number(given))
  throw new UsageError(`--days is a whole number of days, or 0 for never, not '${given}'`)
}

export const keyCreate = sendCommand({
  words: 'key create',
  args: ['subject', 'name'],
  about: 'Create an API key of a service account, and print it, once',
  options: {
    days: {
      type: 'string',
      value: 'N',
      about:
        'days until it expires; 0: never (default: [svc.security.auth.api_keys] of the server)',
    },
    permissions: {
      type: 'string',
      value: 'a,b',
      about: 'patterns: of the permissions of its account it has only those that one covers',
    },
    networks: {
      type: 'string',
      value: 'a,b',
      about: 'addresses and networks, such as 10.0.0.0/8, from which alone it is accepted',
    },
    ...issuerOption,
  },
  requestOf(parsed) {
    const [, name = ''] = parsed.args
    const { days, permissions, networks } = parsed.options
    toKeyName(name)
    const body = toJsonObject({
      name: quote(name),
      expires_in_days: daysOf(days),
      permissions: listJson(permissions),
      networks: listJson(networks),
    })
    return {
      method: 'POST',
      path: keysPath(parsed),
      query: issuerOf(parsed),
      body,
      repeatability: 'once',
    }
  },
  print(answer, _, { out, err }) {
    out(`${stringOf(membersOf(answer)?.get('key'))}\n`)
    err('store the key now: the server keeps only its hash and cannot show it again\n')
  },
})

export const keyList = readCommand({
  words: 'key list',
  args: ['subject'],
  about: 'List the API keys of a principal by prefix, expired ones too',
  query: { issuer: issuerOption.issuer },
  pathOf: (args) => keysPath({ args }),
  table: {
    columns: ['name', 'prefix', 'expires_at', 'last_used_at', 'permissions', 'networks'],
  },
})

export const keyRevoke = sendCommand({
  words: 'key revoke',
  args: ['subject', 'name'],
  about: 'Revoke an API key; no later request is accepted with it',
  options: issuerOption,
  requestOf: (parsed) => ({
    method: 'DELETE',
    path: `${keysPath(parsed)}${path`/${toKeyName(parsed.args[1] ?? '')}`}`,
    query: issuerOf(parsed),
  }),
  print: (answer, _, context) => printMessage(context, answer),
})
