import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { HeldError, lock } from '../../packages/runtime/src/process/lock-file.ts'
import { PROJECT } from '../bootstrap/data-dir.mjs'
import { Stamp } from '../bootstrap/stamp.mjs'
import { stopSignal } from '../process/signals.ts'
import { ensurePrograms, type Program } from './packages.ts'
import type { Progress } from './progress.ts'
import { type RunOptions, run, succeeds } from './run.ts'

const SDK = path.join(PROJECT, 'sdk/python')
const CANDIDATES = ['python3', 'python3.13', 'python3.12', 'python3.11', '/usr/bin/python3']
const UV = 'uv==0.13.9'
const NEW_ENOUGH = 'import sys; assert sys.version_info >= (3, 11)'

const PIP_INSTALL = [
  ...['-m', 'pip', 'install', '--disable-pip-version-check'],
  ...['--no-input', '--progress-bar=off'],
]

/** Packages of an environment: those of a lock file, and the SDK with these extras. */
const PACKAGES = {
  worker: { lock: 'requirements.txt', extras: 'worker,otel,encryption' },
  dev: { lock: 'requirements-dev.txt', extras: 'dev' },
  lowest: { lock: 'requirements-lowest.txt', extras: 'dev' },
  frameworks: { lock: 'requirements-frameworks.txt', extras: 'frameworks' },
}

type PackageSet = keyof typeof PACKAGES
type Report = RunOptions['onLine']

const LOCK_PAUSE_MS = 200

interface SetupContext {
  dir: string
  progress: Progress
}

interface PythonOptions {
  /**
   * `worker`: what a worker needs (the default); `dev`: also the packages for tests, types and lint; `lowest`:
   * those of `dev` in the lowest versions that pyproject.toml admits; `frameworks`: programs in which the client runs.
   */
  packages?: PackageSet
  folder?: string
  /** The python to make the environment of. */
  from?: string
}

/**
 * Returns the python of a virtual environment with the SDK; creates or updates the environment. One process does so at
 * a time: two would write the same files. The others wait for it.
 */
export async function ensurePython(
  context: SetupContext,
  { packages = 'worker', folder = 'venv', from }: PythonOptions = {},
): Promise<string> {
  const venv = path.join(context.dir, folder)
  const python = path.join(venv, 'bin/python')
  if (await hasPackages(venv, packages)) return python
  const unlock = await lockWhenFree(`${venv}-lock`, context.progress)
  try {
    if (!(await hasPackages(venv, packages)))
      await setUp(venv, context.progress, { packages, from })
  } finally {
    unlock()
  }
  return python
}

async function hasPackages(venv: string, packages: PackageSet): Promise<boolean> {
  if (!(await works(venv))) return false
  // An environment for tests has all that a worker needs.
  const sufficient = packages === 'worker' ? (['worker', 'dev'] as const) : [packages]
  return sufficient.some((kind) => stampOf(venv, kind).matches())
}

const works = (venv: string): Promise<boolean> =>
  succeeds(path.join(venv, 'bin/python'), ['-c', `${NEW_ENOUGH}; import pip`])

/** Locks a folder; waits while another process has locked it. */
async function lockWhenFree(folder: string, progress: Progress): Promise<() => void> {
  mkdirSync(folder, { recursive: true })
  const unlock = tryLock(folder)
  if (unlock) return unlock
  return await progress.step('Waiting for another process that sets up Python', async () => {
    for (;;) {
      await pause(LOCK_PAUSE_MS, undefined, { signal: stopSignal })
      const unlock = tryLock(folder)
      if (unlock) return unlock
    }
  })
}

/** Undefined if another process holds it, or took it over at the same time. */
function tryLock(folder: string): (() => void) | undefined {
  try {
    return lock(folder)
  } catch (error) {
    if (error instanceof HeldError || (error as NodeJS.ErrnoException).code === 'EEXIST')
      return undefined
    throw error
  }
}

/**
 * The stamp is absent meanwhile. So after a set-up that was interrupted the environment is made again: pip takes a
 * package of which it has written some files for one that is installed.
 */
async function setUp(
  venv: string,
  progress: Progress,
  { packages, from }: { packages: PackageSet; from: string | undefined },
): Promise<void> {
  const python = path.join(venv, 'bin/python')
  const isComplete = existsSync(stampFile(venv)) && (await works(venv))
  const base = isComplete ? undefined : (from ?? (await findPython(progress)))
  await progress.step('Setting up Python', async (report) => {
    rmSync(stampFile(venv), { force: true })
    if (base) await createEnvironment(base, venv, report)
    const { lock, extras } = PACKAGES[packages]
    await installLocked(python, path.join(SDK, lock), report)
    // Without an index: fails if the lock misses what pyproject.toml asks for (`npm run lock:python` adds it).
    const sdk = ['--no-index', '--no-build-isolation', '--editable', `${SDK}[${extras}]`]
    await run(python, [...PIP_INSTALL, ...sdk], { onLine: report })
  })
  stampOf(venv, packages).set()
}

const stampFile = (venv: string) => path.join(venv, '.windlass-stamp')

/** The stamp of an environment that has these packages. */
function stampOf(venv: string, packages: PackageSet): Stamp {
  const isShared = packages === 'worker' || packages === 'dev'
  const locks = isShared ? [PACKAGES.worker.lock, PACKAGES.dev.lock] : [PACKAGES[packages].lock]
  const files = ['pyproject.toml', ...locks].map((name) => path.join(SDK, name))
  return new Stamp(stampFile(venv), { files, facts: [packages] })
}

/**
 * Returns the python for workers that run as `user`. If that user cannot run the ordinary Python (for
 * example one under /root), an environment of another Python is created; without one, the ordinary is used.
 */
export async function ensureWorkerPython(
  context: SetupContext,
  user?: { uid: number; gid: number },
): Promise<string> {
  const options = { cwd: '/', ...user }
  const ordinary = path.join(context.dir, 'venv/bin/python')
  if (!user || (await succeeds(ordinary, ['-c', NEW_ENOUGH], options))) return ensurePython(context)
  const from = await firstThatCan(options)
  return ensurePython(context, from === undefined ? {} : { folder: 'worker-venv', from })
}

/** Returns the programs of these versions (`3.12`) that are present and can create environments. */
export async function findPythons(versions: readonly string[]): Promise<Map<string, string>> {
  const root = process.env.PYENV_ROOT ?? path.join(os.homedir(), '.pyenv')
  const installed = await readdir(path.join(root, 'versions')).catch(() => [])
  const found = new Map<string, string>()
  for (const version of versions) {
    const kept = installed.filter((name) => name.startsWith(`${version}.`))
    const candidates = kept.map((name) => path.join(root, 'versions', name, 'bin/python'))
    const isVersion = `import sys; assert "%d.%d" % sys.version_info[:2] == "${version}"`
    const python = await firstThatCan({}, [`python${version}`, ...candidates], isVersion)
    if (python) found.set(version, python)
  }
  return found
}

/** Returns the path of uv, which is kept in the data directory. */
export async function ensureUv(dir: string): Promise<string> {
  const tools = path.join(dir, 'tools/uv')
  const base = await firstThatCan()
  await run(base ?? 'python3', ['-m', 'venv', tools])
  await run(path.join(tools, 'bin/pip'), ['install', '--quiet', UV])
  return path.join(tools, 'bin/uv')
}

/** Creates a virtual environment; removes the one that is there. */
export async function createEnvironment(base: string, venv: string, onLine: Report): Promise<void> {
  rmSync(venv, { recursive: true, force: true })
  await run(base, ['-m', 'venv', venv], { onLine })
}

/** Installs the packages of a lock file into the environment of `python`, by version and hash. */
export async function installLocked(python: string, lock: string, onLine: Report): Promise<void> {
  await run(python, [...PIP_INSTALL, '--require-hashes', '-r', lock], { onLine })
}

const PYTHON: Program = {
  name: 'Python 3.11 or newer with venv',
  apt: ['python3', 'python3-venv'],
  found: async () => (await firstThatCan()) !== undefined,
}

/** Programs that must be installed before the environment of a data directory is made. */
export const neededForPython = (dir: string): readonly Program[] =>
  existsSync(path.join(dir, 'venv/bin/python')) ? [] : [PYTHON]

/** Returns a python that is new enough and can create virtual environments; installs one if needed. */
export async function findPython(progress: Progress): Promise<string> {
  await ensurePrograms(progress, [PYTHON])
  const found = await firstThatCan()
  if (found) return found
  throw new Error(`${PYTHON.name} cannot be found`)
}

/** Returns the path of the first candidate that can create virtual environments. */
async function firstThatCan(
  options?: RunOptions,
  candidates: readonly string[] = CANDIDATES,
  check = NEW_ENOUGH,
): Promise<string | undefined> {
  const program = `${check}; import venv, ensurepip; print(sys.executable)`
  for (const candidate of candidates) {
    const found = await run(candidate, ['-c', program], options).catch(() => undefined)
    if (found) return found
  }
  return undefined
}
