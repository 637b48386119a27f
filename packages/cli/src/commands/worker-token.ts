import { path, toWorkerName, toWorkerTokenName } from '@windlass/api-client/path'
import { toJsonObject } from '@windlass/api-client/payload'
import { membersOf, quote, stringOf } from '@windlass/runtime/json/json'
import { createApiCall, serverOptions } from '../api-call.ts'
import { type Command, type ParsedArguments, UsageError } from '../command.ts'
import { parseList } from '../input.ts'
import { jsonOption, printJson } from '../output.ts'
import { escapeLine } from '../terminal-text.ts'
import { deleteCommand } from './delete-command.ts'
import { sendCommand } from './send-command.ts'

function requireCount(option: string, text: string): string {
  if (/^[1-9]\d{0,8}$/.test(text)) return text
  throw new UsageError(`--${option} is a whole number, 1 or more`)
}

/** Allowed values by label, from `key=value,key=value`. */
function labelsOf(text: string): Record<string, string[]> {
  const labels: Record<string, string[]> = {}
  for (const item of parseList(text)) {
    const [, key = '', value = ''] = /^([^=]+)=(.+)$/.exec(item) ?? []
    if (key === '') throw new UsageError(`the label '${item}' is not of the form key=value`)
    labels[key] = [...(labels[key] ?? []), value]
  }
  return labels
}

function restrictionsOf(options: ParsedArguments['options']): string {
  const { namespaces, labels, 'name-prefix': name_prefix, 'max-concurrent': concurrent } = options
  return JSON.stringify({
    ...(typeof name_prefix === 'string' && { name_prefix }),
    ...(typeof namespaces === 'string' && { namespaces: parseList(namespaces) }),
    ...(typeof labels === 'string' && { labels: labelsOf(labels) }),
    ...(typeof concurrent === 'string' && {
      limits: { max_concurrent_executions: Number(requireCount('max-concurrent', concurrent)) },
    }),
  })
}

export const workerTokensCreate = sendCommand({
  words: 'worker-tokens create',
  args: ['name'],
  about: 'Create a token with which workers register, and print it',
  options: {
    days: { type: 'string', value: 'N', about: 'days until it expires (default: never)' },
    uses: { type: 'string', value: 'N', about: 'number of registrations; unlimited without it' },
    'name-prefix': { type: 'string', value: 'TEXT', about: 'start of the names of its workers' },
    namespaces: { type: 'string', value: 'a,b', about: 'its workers receive these only' },
    labels: {
      type: 'string',
      value: 'key=value,…',
      about: 'labels that its workers may announce; * for any value; any labels without it',
    },
    'max-concurrent': { type: 'string', value: 'N', about: 'largest capacity of a worker' },
  },
  requestOf(parsed) {
    const { days, uses } = parsed.options
    const [name = ''] = parsed.args
    toWorkerTokenName(name)
    const body = toJsonObject({
      name: quote(name),
      ...(typeof days === 'string' && { expires_in_days: requireCount('days', days) }),
      ...(typeof uses === 'string' && { max_uses: requireCount('uses', uses) }),
      restrictions: restrictionsOf(parsed.options),
    })
    return { method: 'POST', path: path`/admin/worker-tokens`, body }
  },
  print: (answer, _, { out }) => out(`${stringOf(membersOf(answer)?.get('token'))}\n`),
})

interface WorkerToken {
  name: string
  prefix: string
  expires_at: string | null
  max_uses: number | null
  uses: number
  restrictions: object
}

export const workerTokensList: Command = {
  words: 'worker-tokens list',
  args: [],
  about: 'List the worker tokens with uses and restrictions',
  options: { ...serverOptions, ...jsonOption },
  async run(parsed, context) {
    const route = path`/admin/worker-tokens`
    const answer = await createApiCall(parsed, context)({ method: 'GET', path: route })
    if (parsed.options.json) printJson(context, answer)
    else
      for (const token of JSON.parse(answer) as WorkerToken[]) {
        const { name, prefix, uses, max_uses, expires_at, restrictions } = token
        const used = `${uses} of ${max_uses ?? 'any'} uses`
        const expiry = expires_at ? `expires ${expires_at}` : 'never expires'
        const cells = [name, prefix, used, expiry, JSON.stringify(restrictions)]
        context.out(`${cells.map(escapeLine).join('\t')}\n`)
      }
    return 0
  },
}

export const workerTokensRevoke = deleteCommand({
  words: 'worker-tokens revoke',
  about: 'Revoke a worker token and end the sessions of its workers',
  pathOf: (name) => path`/admin/worker-tokens/${toWorkerTokenName(name)}`,
})

export const workerEndSession = deleteCommand({
  words: 'worker end-session',
  about: 'End the session of a worker: its token is refused, its work is released',
  pathOf: (name) => path`/workers/${toWorkerName(name)}/session`,
})
