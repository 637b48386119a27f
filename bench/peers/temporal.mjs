import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { freePort } from '../../scripts/process/ports.ts'
import { ensureGoProgram } from '../../scripts/setup/go-programs.ts'
import { startPythonLoad } from './python-load.mjs'
import { versionOf } from './versions.mjs'

const FOLDER = new URL('.', import.meta.url).pathname
const READY_LIMIT_MS = 60_000
/** Its command line, which has the development server: the newest version of which the Go module proxy has all modules. */
const TEMPORAL_SERVER = {
  name: 'temporal',
  module: 'github.com/temporalio/cli/cmd/temporal',
  version: 'v1.5.1',
}

/** Temporal's development server, with its database in a file, and a Python worker. */
export async function startTemporal({ processes, dir, tools }) {
  const command = process.env.TEMPORAL_CLI ?? (await ensureGoProgram(TEMPORAL_SERVER))
  const version = execFileSync(command, ['--version'], { encoding: 'utf8' }).trim()
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  const server = processes.start({
    name: 'temporal',
    command,
    args: [
      ...['server', 'start-dev', '--headless', '--log-level', 'error', '--port', `${port}`],
      ...['--db-filename', path.join(dir, 'temporal.db')],
    ],
  })
  const isUp = () => {
    execFileSync(command, ['operator', 'cluster', 'health', '--address', address], {
      stdio: 'ignore',
    })
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
