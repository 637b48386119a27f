import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type Defer, withTest } from './defer.ts'

const SCRIPTS = new URL('../../../scripts/', import.meta.url)
const READY_MS = 60_000

/** A process that `Processes` of scripts/ started. */
interface Child {
  program: { command: string; args: string[]; cwd?: string; user?: object; name?: string }
  pid: number
  exited: Promise<unknown>
}

interface Processes {
  start(program: Child['program']): Child
  stopAll(): Promise<void>
}

/** Loads a module of scripts/, which is not a package. */
export const loadScript = (name: string) => import(/* @vite-ignore */ new URL(name, SCRIPTS).href)

/** Starts a PostgreSQL in a folder of its own, with the processes that it and its like belong to. */
export async function startPostgresIn(defer: Defer, durable: boolean) {
  const [{ Processes }, { startPostgres }, { temporaryDir }] = await Promise.all([
    loadScript('process/processes.ts'),
    loadScript('stores/postgres.ts'),
    loadScript('testing/temporary-dir.ts'),
  ])
  const dir: string = temporaryDir()
  const processes: Processes = new Processes(dir)
  defer(async () => {
    await processes.stopAll()
    await rm(dir, { recursive: true, force: true })
  })
  const started: { url: string; child: Child } = await startPostgres(processes, dir, { durable })
  return { ...started, dir, processes }
}

/** Starts a private PostgreSQL whose address survives a restart. */
export async function startPrivatePostgres(defer: Defer = withTest) {
  const started = await startPostgresIn(defer, false)
  const { dir, processes } = started
  let { child } = started
  return {
    url: started.url,
    /** Parent folder of its data directory, `data`; accessible to its user. */
    home: path.join(dir, 'postgres'),
    /** Folder of the programs of its version. */
    bin: path.dirname(child.program.command),
    /** Stops it before the test ends. */
    async stop(): Promise<void> {
      process.kill(child.pid, 'SIGINT')
      await child.exited
    },
    /**
     * Stops it by a signal (SIGINT: fast, SIGQUIT: like a crash), does something, and starts it again after
     * `downMs`.
     */
    async restart(signal: 'SIGINT' | 'SIGQUIT', downMs: number, whileDown = async () => {}) {
      process.kill(child.pid, signal)
      await child.exited
      await whileDown()
      await pause(downMs)
      child = processes.start(child.program)
      await until('connections of PostgreSQL', () => answers(started.url))
    },
  }
}

/** Resolves when the condition holds; rejects with its name after a minute. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + READY_MS; !(await holds()); await pause(100))
    if (Date.now() > end) throw new Error(`no ${what} within ${READY_MS} ms`)
}

/** True if a server accepts connections. */
export async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
