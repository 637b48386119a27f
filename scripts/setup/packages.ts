import { fileURLToPath } from 'node:url'
import { isRoot } from '../bootstrap/data-dir.mjs'
import { findChromium, findProgram, postgresFolders } from './programs.ts'
import type { Progress } from './progress.ts'
import { run, succeeds } from './run.ts'

/** Programs that Windlass runs, with their Debian package and a check whether they are installed. */
const INFRA = [
  { name: 'PostgreSQL', apt: 'postgresql', found: () => postgresFolders().length > 0 },
  { name: 'NATS', apt: 'nats-server', found: () => findProgram('nats-server') !== undefined },
  { name: 'Redis', apt: 'redis-server', found: () => findProgram('redis-server') !== undefined },
]

/** Ensures that PostgreSQL, NATS and Redis are installed. */
export async function ensureInfraPrograms(progress: Progress): Promise<void> {
  const missing = INFRA.filter((program) => !program.found())
  if (missing.length === 0) return
  const names = missing.map((program) => program.name).join(', ')
  await aptInstall(
    progress,
    names,
    missing.map((program) => program.apt),
  )
  const absent = INFRA.find((program) => !program.found())
  if (absent) throw new Error(`${absent.name} was installed but its programs cannot be found`)
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
export async function aptInstall(progress: Progress, names: string, packages: string[]) {
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
