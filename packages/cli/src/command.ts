import { parseArgs } from 'node:util'

/** What a command may touch of the process it runs in. */
export interface World {
  env: NodeJS.ProcessEnv
  out: (text: string) => void
  err: (text: string) => void
}

export interface Option {
  type: 'string' | 'boolean'
  /** How its value is called in the help. */
  value?: string
  about: string
}

export interface Given {
  /** The arguments that are no options, as many as `args` names. */
  args: string[]
  options: Record<string, string | boolean | undefined>
}

/** One command: `windlass <words> <args>`. */
export interface Command {
  words: string
  /** Names of its arguments; one that ends in `?` may be left out. */
  args: string[]
  about: string
  options?: Record<string, Option>
  /** Takes everything that follows as it is, to hand it on. */
  passesOn?: true
  /** Answers the exit status. */
  run(given: Given, world: World): Promise<number>
}

/** Wrong use of the command line: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Anything else that a person can understand: exit status 1. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** Reads what follows a command's words. Throws UsageError. */
export function read(command: Command, rest: string[]): Given {
  if (command.passesOn) return { args: rest, options: {} }
  const options = Object.fromEntries(
    Object.entries(command.options ?? {}).map(([name, { type }]) => [name, { type }]),
  )
  try {
    const { values, positionals } = parseArgs({ args: rest, options, allowPositionals: true })
    const needed = command.args.filter((name) => !name.endsWith('?')).length
    if (positionals.length < needed)
      throw new UsageError(`missing ${command.args[positionals.length]}`)
    const extra = positionals[command.args.length]
    if (extra !== undefined) throw new UsageError(`unexpected argument '${extra}'`)
    return { args: positionals, options: values as Given['options'] }
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')) throw error
    throw new UsageError((error as Error).message)
  }
}
