import { elementsOf, membersOf, stringOf } from '@windlass/runtime/json/json'
import type { Given, Option, World } from './command.ts'
import { columns } from './help.ts'

export const jsonOption: Record<string, Option> = {
  json: { type: 'boolean', about: 'print what the server answered' },
}

/** Prints JSON text as it came. */
export function print({ out }: World, json: string): void {
  out(`${json}\n`)
}

/** Prints a list as a table of these members, or with --json as it came. */
export function printRows(json: string, names: string[], given: Given, world: World): void {
  const rows = (elementsOf(json) ?? []).map((row) => {
    const members = membersOf(row)
    return names.map((name) => cellOf(members?.get(name)))
  })
  const headings = names.map((name) => name.toUpperCase())
  if (given.options.json) print(world, json)
  else if (rows.length > 0) world.out(`${columns([headings, ...rows])}\n`)
}

function cellOf(json: string | undefined): string {
  return stringOf(json) ?? (json === undefined || json === 'null' ? '' : json)
}

/** The state of an execution, from the JSON text of its summary or context. */
export const stateOf = (json: string): string => stringOf(membersOf(json)?.get('state')) ?? ''

const ILL = new Set(['FAILED', 'CANCELLED'])

/** The exit status that the outcome of a run deserves. */
export const statusOf = (json: string): number => (ILL.has(stateOf(json)) ? 1 : 0)
