import type { PathSegment } from '@windlass/api-client/path'
import { path } from '@windlass/api-client/path'
import { toJsonObject } from '@windlass/api-client/payload'
import { checkJson, elementsOf, membersOf, quote, stringOf } from '@windlass/runtime/json/json'
import { createApiCall, serverOptions } from '../api-call.ts'
import { type Command, type ParsedArguments, UsageError } from '../command.ts'
import { parseList, readText } from '../input.ts'
import { jsonOption, printJson, printMessage } from '../output.ts'
import { escapeLine } from '../terminal-text.ts'
import { deleteCommand } from './delete-command.ts'
import { revisionOf, revisionOption } from './revision-option.ts'

const MAX_DEPTH = 512

/** Secrets and configs: named values that workflows read, each with patterns of who may. */
interface EntryKind {
  /** The word of the commands. */
  word: 'secret' | 'config'
  isSecret: boolean
  root: string
  toName(text: string): PathSegment
}

/** The error does not quote the text, which may be secret. */
function requireJson(json: string): string {
  try {
    checkJson(json, MAX_DEPTH)
  } catch {
    throw new UsageError('the value is not JSON; without --json it is stored as text')
  }
  return json
}

/** Members of the body that limit the use of an entry, as JSON text. */
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

const isFromArgument = (value: string) => value !== '-' && !value.startsWith('@')

const setCommand = ({ word, isSecret, root, toName }: EntryKind): Command => ({
  words: `${word} set`,
  args: ['name', 'value?'],
  about: `Create or replace a ${word}; the value is text, @file, or standard input`,
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
    ...(isSecret && {
      'keep-previous': {
        type: 'string',
        value: 'seconds',
        about: 'keep the present value readable as the previous one for this time',
      },
    }),
    ...revisionOption,
    ...serverOptions,
  },
  async run(parsed, context) {
    const [name = '', value = '-'] = parsed.args
    toName(name)
    const text = await readText(value)
    const body = toJsonObject({
      name: quote(name),
      value: parsed.options.json ? requireJson(text) : quote(text),
      ...scopeMembers(parsed.options),
    })
    const request = { method: 'POST', path: root, body, ifRevision: revisionOf(parsed) } as const
    printMessage(context, await createApiCall(parsed, context)(request))
    if (isSecret && isFromArgument(value))
      context.err(
        'warning: other users of this machine can read the value in the list of processes, and the shell may keep it in its history; use @file or standard input\n',
      )
    return 0
  },
})

const getCommand = ({ word, isSecret, root, toName }: EntryKind): Command => ({
  words: `${word} get`,
  args: ['name'],
  about: `Print the value of a ${word}: text unchanged, other values as JSON`,
  options: {
    ...(isSecret && {
      previous: { type: 'boolean', about: 'the value before the current one, while it is kept' },
    }),
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const route = `${root}${path`/${toName(parsed.args[0] ?? '')}`}`
    const query = { version: parsed.options.previous ? 'previous' : undefined }
    const answer = await createApiCall(parsed, context)({ method: 'GET', path: route, query })
    const value = membersOf(answer)?.get('value') ?? ''
    printJson(context, parsed.options.json ? answer : (stringOf(value) ?? value))
    return 0
  },
})

interface EntryDetails {
  name: string
  namespaces: string[] | null
  workflows: string[] | null
  /** Configs have none. */
  version?: number
  previous_until?: string | null
  revision?: string
}

const detailLines = (answer: string): string[] =>
  (JSON.parse(answer) as EntryDetails[]).map(
    ({ name, namespaces, workflows, version, previous_until, revision }) =>
      [
        ...(version === undefined ? [name] : [name, `version ${version}`]),
        ...[`namespaces ${shown(namespaces)}`, `workflows ${shown(workflows)}`],
        ...(previous_until ? [`previous until ${previous_until}`] : []),
        ...(revision ? [`revision ${revision}`] : []),
      ]
        .map(escapeLine)
        .join('\t'),
  )

const nameLines = (answer: string): string[] =>
  (elementsOf(answer) ?? []).map((name) => escapeLine(stringOf(name) ?? ''))

const shown = (patterns: string[] | null) => patterns?.join(',') ?? '*'

const listCommand = ({ word, isSecret, root }: EntryKind): Command => ({
  words: `${word} list`,
  args: [],
  about: `List the names of the ${word}s`,
  options: {
    detailed: {
      type: 'boolean',
      about: `show patterns${isSecret ? ', version, previous value' : ''} and revision of each`,
    },
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const detailed = parsed.options.detailed ? 'true' : undefined
    const request = { method: 'GET', path: root, query: { detailed } } as const
    const answer = await createApiCall(parsed, context)(request)
    if (parsed.options.json) printJson(context, answer)
    else
      for (const line of detailed ? detailLines(answer) : nameLines(answer))
        context.out(`${line}\n`)
    return 0
  },
})

/** The commands that set, print, list and delete entries of a kind. */
export const entryCommands = (kind: EntryKind) => ({
  set: setCommand(kind),
  get: getCommand(kind),
  list: listCommand(kind),
  remove: deleteCommand({
    words: `${kind.word} delete`,
    about: `Delete a ${kind.word}`,
    pathOf: (name) => `${kind.root}${path`/${kind.toName(name)}`}`,
  }),
})
