import type { Command } from './command.ts'

interface FoundCommand {
  command: Command
  /** The arguments after the words of the command. */
  rest: string[]
}

/**
 * Finds the command that a command line names, or the default command of a group when only options, or nothing,
 * follow the first word. `--help` after it lists the commands of the group instead.
 */
export function findCommand(
  commands: readonly Command[],
  argv: string[],
): FoundCommand | undefined {
  const named = commands.find(({ words }) => words.split(' ').every((word, i) => argv[i] === word))
  if (named) return { command: named, rest: argv.slice(named.words.split(' ').length) }
  const [first, ...rest] = argv
  if (!hasOnlyOptions(rest)) return undefined
  const command = commands.find(
    ({ words, isGroupDefault }) => isGroupDefault && words.startsWith(`${first} `),
  )
  return command && { command, rest }
}

/** True if no second word of a command, and no request for help, comes first. */
const hasOnlyOptions = ([next = '-']: string[]) =>
  next.startsWith('-') && next !== '--help' && next !== '-h'
