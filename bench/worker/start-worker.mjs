import { readFileSync } from 'node:fs'
import path from 'node:path'
import { projectDataDir } from '../../scripts/bootstrap/data-dir.mjs'
import { Progress } from '../../scripts/setup/progress.ts'
import { ensurePython } from '../../scripts/setup/python.ts'

const START_LIMIT_MS = 60_000

/** Starts a Python worker with these options; resolves once it is online. */
export async function startWorker({ url, home, dir, processes }, name, options) {
  const python = await ensurePython({
    dir: projectDataDir(),
    progress: new Progress(process.stderr),
  })
  const args = ['-P', '-m', 'windlass.worker', 'start', '--server-url', url, '--name', name]
  const worker = processes.start({
    name,
    command: python,
    args: [...args, ...options.map(String), '--bootstrap-token-fd', '3'],
    cwd: dir,
    env: { ...process.env, PYTHONPYCACHEPREFIX: path.join(dir, 'pyc') },
    input: () => readFileSync(path.join(home, 'bootstrap-token'), 'utf8'),
    expendable: true,
  })
  const isOnline = async () => {
    const known = await (await fetch(`${url}/workers`)).json()
    return known.some((one) => one.name === name && one.status === 'online')
  }
  await processes.untilReady(worker, isOnline, START_LIMIT_MS)
  return worker
}
