import { parseArgs } from 'node:util'
import { suggest } from './nearest-name.ts'

/** The process that a command runs in. */
export interface CommandContext {
  env: NodeJS.ProcessEnv
  out: (text: string) => void
  err: (text: string) => void
  /** True if the output is a terminal; false if it is a file or a pipe. */
  isTerminal?: boolean
  /** Time for which a request that failed is repeated, where that is safe. */
  retryForMs: number
  /**
   * Writes this sentence if the user interrupts the command, which then ends with status 130. The returned function
   * ends that.
   */
  explainInterrupt?: (sentence: string) => () => void
  /** The URL of the system that runs from this clone, if one does. */
  findRunningServer: () => Promise<string | undefined>
}

export interface CommandOption {
  type: 'string' | 'boolean'
  /** The placeholder of its value in the help. */
  value?: string
  about: string
}

export interface ParsedArguments {
  /** The positional arguments, at most as many as `args` names. */
  args: string[]
  options: Record<string, string | boolean | undefined>
}

/** One command: `windlass <words> <args>`. */
export interface Command {
  words: string
  /** Names of its arguments; one that ends in `?` is optional. */
  args: string[]
  about: string
  options?: Record<string, CommandOption>
  /** Takes all following arguments unchanged, for another program. */
  isPassThrough?: true
  /** Runs too if only options, or nothing, follow the first of its words. */
  isGroupDefault?: true
  /** Returns the exit status. */
  run(parsed: ParsedArguments, context: CommandContext): Promise<number>
}

/** Wrong use of the command line: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** An expected failure; its message is a sentence for the user: exit status 1. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** Parses the arguments that follow a command's words. Throws UsageError. */
export function parseArguments(command: Command, rest: string[]): ParsedArguments {
  if (command.isPassThrough) return { args: rest, options: {} }
  const options = Object.fromEntries(
    Object.entries(command.options ?? {}).map(([name, { type }]) => [name, { type }]),
  )
  try {
    const { values, positionals } = parseArgs({ args: rest, options, allowPositionals: true })
    const needed = command.args.filter((name) => !name.endsWith('?')).length
    if (positionals.length < needed)
      throw new UsageError(`missing ${command.args[positionals.length]?.toUpperCase()}`)
    const extra = positionals[command.args.length]
    if (extra !== undefined) throw new UsageError(`unexpected argument '${extra}'`)
    return { args: positionals, options: values as ParsedArguments['options'] }
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')) throw error
    throw new UsageError(describeMistake(error as NodeJS.ErrnoException, Object.keys(options)))
  }
}

/** The message of Node names the option in quotes, with a placeholder if it takes a value. */
function describeMistake({ code, message }: NodeJS.ErrnoException, names: string[]): string {
  const [, option = ''] = /'(-[^ ']*)/.exec(message) ?? []
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    return `unknown option '${option}'${suggest(
      option,
      names.map((name) => `--${name}`),
    )}`
  if (message.includes('does not take')) return `${option} takes no value`
  const hyphen = `; one that begins with a hyphen is written ${option}=-…`
  return `${option} needs a value${message.includes('ambiguous') ? hyphen : ''}`
}
