import { readdirSync, rmdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { bringUp } from '../../scripts/lib/bring-up.mjs'
import { prepare } from '../../scripts/lib/data-dir.mjs'
import { Processes } from '../../scripts/lib/processes.mjs'
import { Progress } from '../../scripts/lib/progress.mjs'
import { catchSignals, stopSignal, untilStopped } from '../../scripts/lib/signals.mjs'
import { temporaryDir } from '../../scripts/lib/temporary-dir.mjs'
import { durableWriteMs } from './disk.mjs'

const INTERRUPTED = 130

/** Where the systems of this process have their folders, while there are any. */
let root
let systems = 0

/**
 * Starts the whole system with durable infrastructure in a folder of its own, hands it to `work`
 * and stops it again, whatever happens; a stop signal ends the process without waiting for `work`.
 * `pids` names every process for the accounting. Inside of `work` another system may be started
 * beside it.
 */
export async function withSystem(options, work) {
  catchSignals()
  root ??= temporaryDir()
  const dir = prepare(path.join(root, String(++systems)))
  const processes = new Processes(dir)
  try {
    const system = await bringUp(
      { dir, progress: new Progress(process.stderr), processes },
      { port: 0, workers: 1, ...options },
    )
    const pids = Object.fromEntries(system.children.map(({ name, pid }) => [name, pid]))
    const working = work({ ...system, pids, processes, dir, home: path.join(dir, 'home') })
    return await Promise.race([working, untilStopped()])
  } finally {
    await processes.stopAll()
    rmSync(dir, { recursive: true, force: true })
    if (readdirSync(root).length === 0) {
      rmdirSync(root)
      root = undefined
      if (stopSignal.aborted) process.exit(INTERRUPTED)
    }
  }
}

/** What the figures were measured on. */
export function machine() {
  const [cpu] = os.cpus()
  return {
    cpu: cpu?.model,
    cores: os.cpus().length,
    memory_gib: Math.round(os.totalmem() / 2 ** 30),
    durable_write_ms: durableWriteMs(),
    node: process.version,
  }
}
