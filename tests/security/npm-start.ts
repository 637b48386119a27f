import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const BOOTSTRAP = new URL('scripts/bootstrap.mjs', ROOT).href
const START = fileURLToPath(new URL('scripts/start.ts', ROOT))
const START_LIMIT_MS = 200_000

/** The Python that npm start gives to workers, kept for the next test. */
async function pythonOfWorkers(dir: string): Promise<string> {
  const load = (name: string) => import(new URL(`scripts/${name}`, ROOT).href)
  const [{ ensureWorkerPython }, { workerUser }, { projectDataDir }, { Progress }] =
    await Promise.all(
      [
        'setup/python.ts',
        'system/worker-user.ts',
        'bootstrap/data-dir.mjs',
        'setup/progress.ts',
      ].map(load),
    )
  return ensureWorkerPython({ dir: projectDataDir(), progress: new Progress() }, workerUser(dir))
}

/** A data directory that PostgreSQL's user and the workers may walk through, with secrets of the test. */
export async function dataDir(secrets: Record<string, string>): Promise<string> {
  const script = new URL('scripts/testing/temporary-dir.ts', ROOT).href
  const { temporaryDir } = (await import(script)) as { temporaryDir(): string }
  const dir = temporaryDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, 'secrets'), { mode: 0o700 })
  for (const [name, value] of Object.entries(secrets))
    writeFileSync(join(dir, 'secrets', name), value, { mode: 0o600 })
  const venv = dirname(dirname(await pythonOfWorkers(dir)))
  symlinkSync(venv, join(dir, basename(venv)))
  chmodSync(dir, 0o711)
  return dir
}

/**
 * `npm start` with these variables, until the test ends, without its demonstration unless `demo` is true.
 * Answers its URL and what it printed.
 */
export async function npmStart(
  dir: string,
  env: Record<string, string>,
  args: string[] = [],
  { demo = false } = {},
) {
  const quiet = demo ? [] : ['--no-demo']
  const general = Object.entries(process.env).filter(
    ([name]) => !/^(SVC_|TEST_|VITEST|NODE_)/.test(name),
  )
  const child = spawn(
    process.execPath,
    ['--import', BOOTSTRAP, START, '--port', '0', ...quiet, '--data-dir', dir, ...args],
    {
      env: {
        ...(Object.fromEntries(general) as Record<string, string>),
        SVC_CONFIG: '/dev/null',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  onTestFinished(() => end(child))
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`not started:\n${output}`)), START_LIMIT_MS)
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const [, found] = /Windlass serves on (\S+)/.exec(output) ?? []
      if (found === undefined || !output.includes('Press Ctrl-C')) return
      clearTimeout(late)
      resolve(found)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(`ended at start:\n${output}`)))
  })
  return { url, child, printed: () => output }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGINT')
  await gone
}
