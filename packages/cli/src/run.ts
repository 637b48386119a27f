import { Refusal } from '@windlass/mcp/domain/refusal'
import { type Command, read, UsageError, type World } from './command.ts'
import { commands } from './commands.ts'
import { helpOf, overview } from './help.ts'
import { version } from './version.ts'

const OK = 0
const FAILED = 1
const MISUSED = 2

/** Runs one command line and answers its exit status: 0 done, 1 failed, 2 misused. */
export async function run(argv: string[], world: World): Promise<number> {
  const [first] = argv
  if (first === '--version' || first === '-V') return say(world, `windlass ${version()}\n`)
  if (first === undefined || first === '--help' || first === '-h' || first === 'help')
    return say(world, overview(commands))

  const command = find(argv)
  if (!command) return unknown(argv, world)
  const rest = argv.slice(command.words.split(' ').length)
  if (!command.passesOn && rest.some((word) => word === '--help' || word === '-h'))
    return say(world, helpOf(command))
  try {
    return await command.run(read(command, rest), world)
  } catch (error) {
    return tell(command, error, world)
  }
}

const find = (argv: string[]): Command | undefined =>
  commands.find(({ words }) => words.split(' ').every((word, i) => argv[i] === word))

function say({ out }: World, text: string): number {
  out(text)
  return OK
}

/** A known first word shows what may follow it. */
function unknown(argv: string[], { out, err }: World): number {
  const group = commands.filter(({ words }) => words.startsWith(`${argv[0]} `))
  if (group.length > 0 && (argv[1] === undefined || argv[1] === '--help' || argv[1] === '-h')) {
    out(overview(group))
    return argv[1] === undefined ? MISUSED : OK
  }
  err(`windlass: unknown command '${argv.slice(0, 2).join(' ')}'; see windlass --help\n`)
  return MISUSED
}

function tell(command: Command, error: unknown, { err }: World): number {
  if (error instanceof UsageError || error instanceof Refusal) {
    err(`windlass: ${error.message}; see windlass ${command.words} --help\n`)
    return MISUSED
  }
  err(`windlass: ${(error as Error).message}\n`)
  return FAILED
}
