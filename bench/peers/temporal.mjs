import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { freePort } from '../../scripts/process/ports.ts'
import { startPythonLoad } from './python-load.mjs'
import { versionOf } from './versions.mjs'

const FOLDER = new URL('.', import.meta.url).pathname
const CLI = process.env.TEMPORAL_CLI ?? 'temporal'
const READY_LIMIT_MS = 60_000

/** Temporal's development server, with its database in a file, and a Python worker. */
export async function startTemporal({ processes, dir, tools }) {
  const version = versionOfServer()
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  const server = processes.start({
    name: 'temporal',
    command: CLI,
    args: [
      ...['server', 'start-dev', '--headless', '--log-level', 'error', '--port', `${port}`],
      ...['--db-filename', path.join(dir, 'temporal.db')],
    ],
  })
  const isUp = () => {
    execFileSync(CLI, ['operator', 'cluster', 'health', '--address', address], { stdio: 'ignore' })
    return true
  }
  await processes.untilReady(server, quietly(isUp), READY_LIMIT_MS)
  const worker = processes.start({
    name: 'temporal-worker',
    command: tools.python,
    args: ['temporal_app.py', 'worker', address],
    cwd: FOLDER,
  })
  const client = await startPythonLoad(tools.python, ['temporal_app.py', 'load', address])
  return {
    version: `${version}, SDK ${versionOf(tools.python, 'temporalio')}`,
    pids: { temporal: server.pid, 'temporal-worker': worker.pid },
    processes: [server, worker, client],
    load: client.load,
    close: client.close,
  }
}

const quietly = (probe) => async () => {
  try {
    return probe()
  } catch {
    return false
  }
}

function versionOfServer() {
  try {
    return execFileSync(CLI, ['--version'], { encoding: 'utf8' }).trim()
  } catch {
    throw new Error(
      'its development server is neither on the PATH (`temporal`) nor in TEMPORAL_CLI',
    )
  }
}
