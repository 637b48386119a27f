// Private PostgreSQL, NATS and Redis without the services, for development and tests:
//   npm run infra -- up [--dir DIR]    starts them in the background, prints their URLs
//   npm run infra -- env [--dir DIR]   prints the URLs again:  eval "$(npm run --silent infra -- env)"
//   npm run infra -- down [--dir DIR]  stops them
//   npm run infra -- serve [--dir DIR] the same in the foreground, until stdin closes
// `serve --temporary` uses a folder of its own without durability and removes it at the end.
import { spawn } from 'node:child_process'
import { existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { holder, lock } from '../packages/runtime/src/process/lock-file.ts'
import { untilGone } from '../packages/runtime/src/process/pids.ts'
import { prepare, projectDataDir } from './bootstrap/data-dir.mjs'
import { Processes } from './process/processes.ts'
import { catchSignals, stopSignal, untilStopped } from './process/signals.ts'
import { TYPESCRIPT_ARGS } from './process/typescript.ts'
import { Progress } from './setup/progress.ts'
import { startInfra, testEnv } from './stores/infra.ts'
import { temporaryDir } from './testing/temporary-dir.ts'

const STOP_LIMIT_MS = 30_000

const commands: Record<string, () => void | Promise<void>> = { up, env, down, serve }
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string' }, daemon: { type: 'boolean' }, temporary: { type: 'boolean' } },
})
const command = commands[positionals[0] ?? '']
const dir = values.temporary
  ? temporaryDir()
  : prepare(path.resolve(values.dir ?? path.join(projectDataDir(), 'infra')))
const envFile = path.join(dir, 'infra.env')

try {
  if (!command) throw new Error('usage: npm run infra -- up|env|down|serve [--dir DIR]')
  await command()
} catch (error) {
  if (!stopSignal.aborted) process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}

async function up(): Promise<void> {
  const log = openSync(path.join(dir, 'infra.log'), 'w', 0o600)
  const flags = ['serve', '--daemon', '--dir', dir]
  const script = fileURLToPath(import.meta.url)
  const server = spawn(process.execPath, [...TYPESCRIPT_ARGS, script, ...flags], {
    detached: true,
    stdio: ['ignore', log, log],
  })
  server.unref()
  while (!(existsSync(envFile) && holder(dir)?.pid === server.pid)) {
    if (server.exitCode !== null) throw new Error(readFileSync(path.join(dir, 'infra.log'), 'utf8'))
    await sleep(50)
  }
  env()
}

function env(): void {
  if (!holder(dir)) throw new Error(`nothing runs in ${dir}`)
  process.stdout.write(readFileSync(envFile, 'utf8'))
}

async function down(): Promise<void> {
  const server = holder(dir)
  if (!server) return
  process.kill(server.pid, 'SIGTERM')
  if ((await untilGone([server], STOP_LIMIT_MS)).length > 0)
    throw new Error(`process ${server.pid} does not stop`)
}

async function serve(): Promise<void> {
  const unlock = lock(dir)
  const processes = new Processes(dir)
  catchSignals({ orStdinCloses: values.daemon !== true })
  try {
    rmSync(envFile, { force: true })
    await processes.recover()
    const infra = await startInfra({
      processes,
      dir,
      progress: new Progress(),
      prefixes: ['', '*'], // each test is a separate system
      durable: values.temporary !== true,
    })
    const lines = Object.entries(testEnv(infra)).map(([key, value]) => `export ${key}=${value}\n`)
    writeFileSync(envFile, lines.join(''), { mode: 0o600 })
    if (!values.daemon) process.stdout.write(lines.join(''))
    await untilStopped()
  } finally {
    await processes.stopAll()
    rmSync(envFile, { force: true })
    unlock()
    if (values.temporary) rmSync(dir, { recursive: true, force: true })
  }
}
