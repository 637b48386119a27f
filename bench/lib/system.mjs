import { readdirSync, rmdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { prepare } from '../../scripts/bootstrap/data-dir.mjs'
import { Processes } from '../../scripts/process/processes.ts'
import { catchSignals, stopSignal, untilStopped } from '../../scripts/process/signals.ts'
import { Progress } from '../../scripts/setup/progress.ts'
import { bringUp } from '../../scripts/system/bring-up.ts'
import { temporaryDir } from '../../scripts/testing/temporary-dir.ts'
import { durableWriteMs } from './disk.mjs'

const INTERRUPTED = 130

/** Parent folder of the systems of this process, while there are any. */
let root
let systems = 0

/**
 * Starts the whole system with durable stores in its own folder, passes it to `work`, and always stops
 * it; a stop signal ends the process without waiting for `work`. `pids` names every process for the
 * accounting. `work` may start another system in parallel. With SINGLE=1 all services run in one process.
 */
export async function withSystem(options, work) {
  catchSignals()
  root ??= temporaryDir()
  const dir = prepare(path.join(root, String(++systems)))
  const processes = new Processes(dir)
  try {
    const system = await bringUp(
      { dir, progress: new Progress(process.stderr), processes },
      { port: 0, workers: 1, singleProcess: process.env.SINGLE === '1', ...options },
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

/** Describes the machine on which the figures are measured. */
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
