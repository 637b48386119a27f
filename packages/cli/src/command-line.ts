import { ArgumentError } from '@windlass/api-client/errors'
import { findNewAuthority, runTrusting } from './authority.ts'
import { type Command, type CommandContext, parseArguments, UsageError } from './command.ts'
import { commands } from './commands.ts'
import { findCommand } from './find-command.ts'
import { formatHelp, formatOverview } from './help.ts'
import { suggest } from './nearest-name.ts'
import { escapeControls, escapeLine } from './terminal-text.ts'
import { readVersion } from './version.ts'

const SUCCEEDED = 0
const FAILED = 1
const MISUSED = 2

/** Runs one command line and returns its exit status: 0 succeeded, 1 failed, 2 wrong use. */
export async function runCommandLine(argv: string[], context: CommandContext): Promise<number> {
  const [first] = argv
  if (first === '--version' || first === '-V')
    return printAndSucceed(context, `windlass ${readVersion()}\n`)
  if (first === 'help' && argv.length > 1)
    return runCommandLine([...argv.slice(1), '--help'], context)
  if (first === undefined || first === '--help' || first === '-h' || first === 'help')
    return printAndSucceed(context, formatOverview(commands))

  const found = findCommand(commands, argv)
  if (!found) return reportUnknownCommand(argv, context)
  const { command, rest } = found
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

function printAndSucceed({ out }: CommandContext, text: string): number {
  out(text)
  return SUCCEEDED
}

const wordsAt = (listed: readonly Command[], at: number) =>
  listed.map(({ words }) => words.split(' ')[at] ?? '')

/** A known first word alone lists its commands. */
function reportUnknownCommand(argv: string[], { out, err }: CommandContext): number {
  const members = commands.filter(({ words }) => words.startsWith(`${argv[0]} `))
  if (members.length > 0 && (argv[1] === undefined || argv[1] === '--help' || argv[1] === '-h')) {
    out(formatOverview(members))
    return argv[1] === undefined ? MISUSED : SUCCEEDED
  }
  const [first = '', second = ''] = argv
  const isGroup = members.length > 0
  const group = isGroup ? `${first} ` : ''
  const near = isGroup
    ? suggest(second, wordsAt(members, 1), group)
    : suggest(first, wordsAt(commands, 0))
  const typed = argv.slice(0, 2).join(' ')
  const sentence = `unknown command '${typed}'${near}; see windlass ${group}--help`
  err(`windlass: ${escapeLine(sentence)}\n`)
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
