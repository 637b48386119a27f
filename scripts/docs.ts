// `npm run docs`: builds the Python guide with the reference of the SDK as a site, in dist/python-docs. A broken
// link or an unknown name of the SDK fails the build.
import path from 'node:path'
import { PROJECT, projectDataDir } from './bootstrap/data-dir.mjs'
import { Stamp } from './bootstrap/stamp.mjs'
import { catchSignals } from './process/signals.ts'
import { Progress } from './setup/progress.ts'
import { createEnvironment, findPython, installLocked } from './setup/python.ts'
import { run } from './setup/run.ts'

const SDK = path.join(PROJECT, 'sdk/python')
const SITE = path.join(PROJECT, 'dist/python-docs')

catchSignals()
const progress = new Progress()
try {
  const bin = await ensureGenerator()
  await progress.step('Building the site', (onLine) =>
    run(path.join(bin, 'mkdocs'), ['build', '--strict', '--quiet', '--clean'], {
      cwd: SDK,
      onLine,
    }),
  )
  process.stdout.write(`${path.join(SITE, 'index.html')}\n`)
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`)
  process.exitCode = 1
}

/** Returns the folder with the programs of an environment that has the generator, as locked. */
async function ensureGenerator(): Promise<string> {
  const venv = path.join(projectDataDir(), 'docs-venv')
  const lock = path.join(SDK, 'requirements-docs.txt')
  const stamp = new Stamp(path.join(venv, '.windlass-stamp'), { files: [lock], facts: [] })
  const bin = path.join(venv, 'bin')
  if (stamp.matches()) return bin
  const base = await findPython(progress)
  await progress.step('Installing the generator', async (onLine) => {
    await createEnvironment(base, venv, onLine)
    await installLocked(path.join(bin, 'python'), lock, onLine)
  })
  stamp.set()
  return bin
}
