import { ArgumentError } from '@windlass/api-client/errors'
import { findNewAuthority, runTrusting } from './authority.ts'
import { type Command, type CommandContext, parseArguments, UsageError } from './command.ts'
import { commands } from './commands.ts'
import { formatHelp, formatOverview } from './help.ts'
import { escapeControls } from './terminal-text.ts'
import { readVersion } from './version.ts'

const SUCCEEDED = 0
const FAILED = 1
const MISUSED = 2

/** Runs one command line and returns its exit status: 0 succeeded, 1 failed, 2 wrong use. */
export async function runCommandLine(argv: string[], context: CommandContext): Promise<number> {
  const [first] = argv
  if (first === '--version' || first === '-V')
    return printAndSucceed(context, `windlass ${readVersion()}\n`)
  if (first === undefined || first === '--help' || first === '-h' || first === 'help')
    return printAndSucceed(context, formatOverview(commands))

  const command = findCommand(argv)
  if (!command) return reportUnknownCommand(argv, context)
  const rest = argv.slice(command.words.split(' ').length)
  if (!command.isPassThrough && rest.some((word) => word === '--help' || word === '-h'))
    return printAndSucceed(context, formatHelp(command))
  try {
    const parsed = parseArguments(command, rest)
    const authority = command.options?.['ca-file'] && findNewAuthority(parsed, context)
    if (authority !== undefined) return await runTrusting(authority, argv, context)
    return await command.run(parsed, context)
  } catch (error) {
    return reportError(command, error, context)
  }
}

const findCommand = (argv: string[]): Command | undefined =>
  commands.find(({ words }) => words.split(' ').every((word, i) => argv[i] === word))

function printAndSucceed({ out }: CommandContext, text: string): number {
  out(text)
  return SUCCEEDED
}

/** A known first word alone lists its commands. */
function reportUnknownCommand(argv: string[], { out, err }: CommandContext): number {
  const group = commands.filter(({ words }) => words.startsWith(`${argv[0]} `))
  if (group.length > 0 && (argv[1] === undefined || argv[1] === '--help' || argv[1] === '-h')) {
    out(formatOverview(group))
    return argv[1] === undefined ? MISUSED : SUCCEEDED
  }
  err(`windlass: unknown command '${argv.slice(0, 2).join(' ')}'; see windlass --help\n`)
  return MISUSED
}

function reportError(command: Command, error: unknown, { err }: CommandContext): number {
  if (error instanceof UsageError || error instanceof ArgumentError) {
    err(`windlass: ${escapeControls(error.message)}; see windlass ${command.words} --help\n`)
    return MISUSED
  }
  err(`windlass: ${escapeControls((error as Error).message)}\n`)
  return FAILED
}
