import { path, toSecretName } from '@windlass/api-client/path'
import { toJsonObject } from '@windlass/api-client/payload'
import { checkJson, elementsOf, membersOf, quote, stringOf } from '@windlass/runtime/json/json'
import { type ApiCall, createApiCall, serverOptions } from '../api-call.ts'
import { type Command, Failure, type ParsedArguments, UsageError } from '../command.ts'
import { parseList, readText } from '../input.ts'
import { jsonOption, printJson, printMessage } from '../output.ts'
import { deleteCommand } from './delete-command.ts'

const MAX_DEPTH = 512

/** The error does not quote the text, which is secret. */
function requireJson(json: string): string {
  try {
    checkJson(json, MAX_DEPTH)
  } catch {
    throw new UsageError('the value is not JSON; without --json it is stored as text')
  }
  return json
}

/** Members of the body that limit the use of a secret, as JSON text. */
function scopeMembers(options: ParsedArguments['options']): Record<string, string> {
  const { namespaces, workflows, 'keep-previous': seconds } = options
  return {
    ...(typeof namespaces === 'string' && { namespaces: patternsJson(namespaces) }),
    ...(typeof workflows === 'string' && { workflows: patternsJson(workflows) }),
    ...(typeof seconds === 'string' && { keep_previous: requireSeconds(seconds) }),
  }
}

/** `*` alone means every name, even where no name is known. */
function patternsJson(text: string): string {
  const items = parseList(text)
  return items.length === 1 && items[0] === '*' ? 'null' : JSON.stringify(items)
}

function requireSeconds(text: string): string {
  if (/^\d{1,7}$/.test(text)) return text
  throw new UsageError('--keep-previous is a whole number of seconds, at most thirty days')
}

export const secretSet: Command = {
  words: 'secret set',
  args: ['name', 'value?'],
  about: 'Create or replace a secret; the value is text, @file, or standard input',
  options: {
    json: { type: 'boolean', about: 'the value is JSON: a number, an object, …' },
    namespaces: {
      type: 'string',
      value: 'a,b-*',
      about: 'patterns of namespaces that may use it; * for all; unchanged without it',
    },
    workflows: {
      type: 'string',
      value: 'a,b-*',
      about: 'patterns of workflows that may use it; * for all; unchanged without it',
    },
    'keep-previous': {
      type: 'string',
      value: 'seconds',
      about: 'keep the present value readable as the previous one for this time',
    },
    ...serverOptions,
  },
  async run(parsed, context) {
    const [name = '', value = '-'] = parsed.args
    toSecretName(name)
    const text = await readText(value)
    const body = toJsonObject({
      name: quote(name),
      value: parsed.options.json ? requireJson(text) : quote(text),
      ...scopeMembers(parsed.options),
    })
    const answer = await createApiCall(
      parsed,
      context,
    )({ method: 'POST', path: path`/admin/secrets`, body })
    printMessage(context, answer)
    return 0
  },
}

export const secretGet: Command = {
  words: 'secret get',
  args: ['name'],
  about: 'Print the value of a secret: text unchanged, other values as JSON',
  options: {
    previous: { type: 'boolean', about: 'the value before the current one, while it is kept' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const route = path`/admin/secrets/${toSecretName(parsed.args[0] ?? '')}`
    const query = { version: parsed.options.previous ? 'previous' : undefined }
    const answer = await createApiCall(parsed, context)({ method: 'GET', path: route, query })
    const value = membersOf(answer)?.get('value') ?? ''
    printJson(context, parsed.options.json ? answer : (stringOf(value) ?? value))
    return 0
  },
}

interface SecretDetails {
  name: string
  namespaces: string[] | null
  workflows: string[] | null
  version: number
  previous_until: string | null
}

const detailLines = (answer: string): string[] =>
  (JSON.parse(answer) as SecretDetails[]).map(
    ({ name, namespaces, workflows, version, previous_until }) =>
      [
        ...[name, `version ${version}`],
        ...[`namespaces ${shown(namespaces)}`, `workflows ${shown(workflows)}`],
        ...(previous_until ? [`previous until ${previous_until}`] : []),
      ].join('\t'),
  )

const shown = (patterns: string[] | null) => patterns?.join(',') ?? '*'

export const secretList: Command = {
  words: 'secret list',
  args: [],
  about: 'List the names of the secrets',
  options: {
    detailed: { type: 'boolean', about: 'show patterns, version and previous value of each' },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const detailed = parsed.options.detailed ? 'true' : undefined
    const answer = await createApiCall(
      parsed,
      context,
    )({ method: 'GET', path: path`/admin/secrets`, query: { detailed } })
    if (parsed.options.json) printJson(context, answer)
    else if (detailed) for (const line of detailLines(answer)) context.out(`${line}\n`)
    else for (const name of elementsOf(answer) ?? []) context.out(`${stringOf(name)}\n`)
    return 0
  },
}

export const secretDelete = deleteCommand({
  words: 'secret delete',
  about: 'Delete a secret',
  pathOf: (name) => path`/admin/secrets/${toSecretName(name)}`,
})

interface Batch {
  key_id: string
  rotated: number
  remaining: number
  unreadable: string[]
  next: string | null
}

/** Repeats until no secret is left under an earlier key: other processes may still write under that key. */
export const secretsRotateKey: Command = {
  words: 'secrets rotate-key',
  args: [],
  about: 'Re-encrypt every secret that is under an earlier key; can be interrupted and repeated',
  options: serverOptions,
  async run(parsed, context) {
    const call = createApiCall(parsed, context)
    for (let done = 0; ; ) {
      const { rotated, remaining, key_id, unreadable } = await rotateAllOnce(call, (batch) => {
        done += batch.rotated
        context.err(`${done} done, ${batch.remaining} to go\n`)
      })
      if (remaining === 0) {
        context.out(`all secrets are encrypted under the key ${key_id}\n`)
        return 0
      }
      if (rotated === 0)
        throw new Failure(
          `no configured key decrypts these secrets: ${unreadable.join(', ')}; configure their key, or set them again`,
        )
    }
  },
}

/** Re-encrypts all names once, batch by batch. */
async function rotateAllOnce(call: ApiCall, onBatch: (batch: Batch) => void): Promise<Batch> {
  let rotated = 0
  const unreadable: string[] = []
  for (let after: string | undefined; ; ) {
    const route = path`/admin/secrets/rotate-key`
    const batch = JSON.parse(await call({ method: 'POST', path: route, query: { after } })) as Batch
    onBatch(batch)
    rotated += batch.rotated
    unreadable.push(...batch.unreadable)
    if (batch.next === null) return { ...batch, rotated, unreadable }
    after = batch.next
  }
}
