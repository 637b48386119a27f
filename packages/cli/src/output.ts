import { getElements } from '@windlass/api-client/payload'
import { elementsOf, membersOf, stringOf } from '@windlass/runtime/json/json'
import type { CommandContext, CommandOption, ParsedArguments } from './command.ts'
import { formatColumns } from './help.ts'
import { escapeControls, escapeLine } from './terminal-text.ts'

export const jsonOption: Record<string, CommandOption> = {
  json: { type: 'boolean', about: 'print the answer of the server, unchanged' },
}

/** Prints JSON text unchanged. */
export function printJson({ out }: CommandContext, json: string): void {
  out(`${json}\n`)
}

/** Prints a stored JSON text byte for byte; only a terminal gets a line break after it. */
export function printStored({ out, isTerminal }: CommandContext, json: string): void {
  out(isTerminal ? `${json}\n` : json)
}

/** Prints the message of an answer. */
export function printMessage({ out }: CommandContext, json: string): void {
  out(`${escapeControls(stringOf(membersOf(json)?.get('message')) ?? '')}\n`)
}

/** Prints a list as a table of these members, or unchanged with --json. */
export function printRows(
  json: string,
  names: string[],
  parsed: ParsedArguments,
  context: CommandContext,
): void {
  const rows = getElements(json).map((row) => {
    const members = membersOf(row)
    return names.map((name) => formatCell(members?.get(name)))
  })
  const headings = names.map((name) => name.toUpperCase())
  if (parsed.options.json) printJson(context, json)
  else printTable([headings, ...rows], context)
}

/** Prints a table whose first row has the headings; without other rows says so on the standard error. */
export function printTable(rows: string[][], { out, err }: CommandContext): void {
  if (rows.length > 1) out(`${formatColumns(rows)}\n`)
  else err('none found\n')
}

/** Prints the warnings of an upload, each once, to the standard error. */
export function printWarnings({ err }: CommandContext, json: string): void {
  const warnings = (elementsOf(json) ?? []).flatMap(
    (row) => elementsOf(membersOf(row)?.get('warnings') ?? '[]') ?? [],
  )
  for (const warning of new Set(warnings))
    err(`warning: ${escapeControls(stringOf(warning) ?? '')}\n`)
}

/** A text without quotes, a list of texts with commas, anything else as JSON. */
function formatCell(json: string | undefined): string {
  if (json === undefined || json === 'null') return ''
  const texts = elementsOf(json)?.map(stringOf)
  const list = texts?.every((text) => text !== undefined) ? texts.join(', ') : json
  return escapeLine(stringOf(json) ?? list)
}

/** The texts of a JSON list. */
export const textsOf = (json = '[]'): string[] =>
  (elementsOf(json) ?? []).map((text) => stringOf(text) ?? '')

/** The state of an execution, from the JSON text of its summary or context. */
export const stateOf = (json: string): string => stringOf(membersOf(json)?.get('state')) ?? ''

const FAILED_STATES = new Set(['FAILED', 'CANCELLED'])

/** The exit status for an execution: 1 if it failed or was cancelled. */
export const exitStatusOf = (json: string): number => (FAILED_STATES.has(stateOf(json)) ? 1 : 0)
