import { fileURLToPath } from 'node:url'
import { isRoot } from '../bootstrap/data-dir.mjs'
import { findChromium, findProgram, postgresFolders } from './programs.ts'
import type { Progress } from './progress.ts'
import { run, succeeds } from './run.ts'

/** A program that Windlass needs, with its Debian packages and a check whether it is installed. */
export interface Program {
  name: string
  apt: string[]
  found: () => boolean | Promise<boolean>
}

export const STORES: readonly Program[] = [
  { name: 'PostgreSQL', apt: ['postgresql'], found: () => postgresFolders().length > 0 },
  { name: 'NATS', apt: ['nats-server'], found: () => findProgram('nats-server') !== undefined },
  { name: 'Redis', apt: ['redis-server'], found: () => findProgram('redis-server') !== undefined },
]

/**
 * Ensures that programs are installed, all missing ones in one step. Without the right to install
 * packages, one error names them all.
 */
export async function ensurePrograms(
  progress: Progress,
  programs: readonly Program[],
): Promise<void> {
  const missing = await absentOf(programs)
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name).join(', ')
  await aptInstall(
    progress,
    names,
    missing.flatMap(({ apt }) => apt),
  )
  const absent = await absentOf(missing)
  if (absent.length === 0) return
  const still = absent.map(({ name }) => name).join(', ')
  throw new Error(`${still}: installed, but the programs cannot be found`)
}

async function absentOf(programs: readonly Program[]): Promise<Program[]> {
  const found = await Promise.all(programs.map((program) => program.found()))
  return programs.filter((_, index) => !found[index])
}

/**
 * Full path of the Chromium that the tests of web pages drive; installs it where that is allowed.
 * Elsewhere these tests are skipped (in CI they fail), and a note says what to install.
 */
export async function ensureChromium(progress: Progress): Promise<string | undefined> {
  const found = findChromium()
  if (found) return found
  try {
    await aptInstall(progress, 'Chromium', ['chromium'])
  } catch (error) {
    progress.note(`Chromium was not installed: ${(error as Error).message.split('\n')[0]}`)
    progress.note('Tests with a browser need it: sudo apt-get install chromium')
  }
  return findChromium()
}

/** Installs Debian packages; throws an error that says what to do if it has no permission. */
async function aptInstall(progress: Progress, names: string, packages: string[]) {
  const asRoot = isRoot ? [] : ['sudo', '-n']
  const allowed = findProgram('apt-get') && (isRoot || (await succeeds('sudo', ['-n', 'true'])))
  if (!allowed) throw new Error(howToInstall(names, packages))
  const script = fileURLToPath(new URL('apt-install.sh', import.meta.url))
  const [command = 'sh', ...args] = [...asRoot, 'sh', script, ...packages]
  await progress.step(`Installing ${names} (apt-get install ${packages.join(' ')})`, (report) =>
    run(command, args, { onLine: report }),
  )
}

function howToInstall(names: string, packages: string[]): string {
  return [
    `${names} not found on this machine, and there is no right to install packages here.`,
    `Either install it yourself, on Debian or Ubuntu:  sudo apt-get install ${packages.join(' ')}`,
    'or run it with Docker: the first lines of deploy/compose.yml say how.',
  ].join('\n')
}
