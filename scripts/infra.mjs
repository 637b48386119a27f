// Private PostgreSQL, NATS and Redis without the services, for development and tests:
//   node scripts/infra.mjs up [--dir DIR]    starts them in the background, prints their URLs
//   node scripts/infra.mjs env [--dir DIR]   prints the URLs again:  eval "$(node scripts/infra.mjs env)"
//   node scripts/infra.mjs down [--dir DIR]  stops them
//   node scripts/infra.mjs serve [--dir DIR] the same in the foreground, until stdin closes
// `serve --temporary` uses a folder of its own without durability and removes it at the end.
import { spawn } from 'node:child_process'
import { existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { holder, lock } from './process/lock.mjs'
import { untilGone } from './process/pids.mjs'
import { Processes } from './process/processes.mjs'
import { catchSignals, stopSignal, untilStopped } from './process/signals.mjs'
import { prepare, projectDataDir } from './setup/data-dir.mjs'
import { Progress } from './setup/progress.mjs'
import { startInfra, testEnv } from './stores/infra.mjs'
import { temporaryDir } from './testing/temporary-dir.mjs'

const STOP_LIMIT_MS = 30_000

const commands = { up, env, down, serve }
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string' }, daemon: { type: 'boolean' }, temporary: { type: 'boolean' } },
})
const command = commands[positionals[0]]
const dir = values.temporary
  ? temporaryDir()
  : prepare(path.resolve(values.dir ?? path.join(projectDataDir(), 'infra')))
const envFile = path.join(dir, 'infra.env')

try {
  if (!command) throw new Error('usage: node scripts/infra.mjs up|env|down|serve [--dir DIR]')
  await command()
} catch (error) {
  if (!stopSignal.aborted) process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function up() {
  const log = openSync(path.join(dir, 'infra.log'), 'w', 0o600)
  const flags = ['serve', '--daemon', '--dir', dir]
  const script = fileURLToPath(import.meta.url)
  const server = spawn(process.execPath, [script, ...flags], {
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

function env() {
  if (!holder(dir)) throw new Error(`nothing runs in ${dir}`)
  process.stdout.write(readFileSync(envFile, 'utf8'))
}

async function down() {
  const server = holder(dir)
  if (!server) return
  process.kill(server.pid, 'SIGTERM')
  if ((await untilGone([server], STOP_LIMIT_MS)).length > 0)
    throw new Error(`process ${server.pid} does not stop`)
}

async function serve() {
  const unlock = lock(dir)
  const processes = new Processes(dir)
  catchSignals({ orStdinCloses: !values.daemon })
  try {
    rmSync(envFile, { force: true })
    await processes.recover()
    const infra = await startInfra({
      processes,
      dir,
      progress: new Progress(),
      prefixes: ['', '*'], // each test is a separate system
      durable: !values.temporary,
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
