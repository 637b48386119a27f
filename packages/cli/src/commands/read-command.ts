import { getMembers } from '@windlass/api-client/payload'
import { createApiCall, serverOptions } from '../api-call.ts'
import type { Command, CommandOption } from '../command.ts'
import { jsonOption, printJson, printRows } from '../output.ts'

/** An option that is sent as a parameter of the query. */
export interface QueryOption {
  /** The parameter; the name of the option if absent. */
  parameter?: string
  value: string
  about: string
}

interface ReadCommand extends Pick<Command, 'words' | 'args' | 'about'> {
  query?: Record<string, QueryOption>
  /** Path of what the arguments name; throws for an argument that names nothing. */
  pathOf(args: string[]): string
  /** A list in the answer that is printed as a table; without it the answer is printed as JSON. */
  table?: { member?: string; columns: string[] }
}

/** A command that prints the answer of one GET request. */
export function readCommand({ query = {}, pathOf, table, ...command }: ReadCommand): Command {
  const options = Object.entries(query).map(([name, { value, about }]): [string, CommandOption] => [
    name,
    { type: 'string', value, about },
  ])
  return {
    ...command,
    options: { ...Object.fromEntries(options), ...serverOptions, ...jsonOption },
    async run(parsed, context) {
      const parameters = Object.entries(query).map(([name, { parameter = name }]) => [
        parameter,
        parsed.options[name]?.toString(),
      ])
      const answer = await createApiCall(
        parsed,
        context,
      )({ method: 'GET', path: pathOf(parsed.args), query: Object.fromEntries(parameters) })
      if (table === undefined || parsed.options.json) printJson(context, answer)
      else printRows(listOf(answer, table.member), table.columns, parsed, context)
      return 0
    },
  }
}

const listOf = (answer: string, member: string | undefined) =>
  member === undefined ? answer : (getMembers(answer, [member])[member] ?? '[]')
