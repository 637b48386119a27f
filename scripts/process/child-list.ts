import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  birth,
  type ProcessId,
  signal,
  untilGone,
} from '../../packages/runtime/src/process/pids.ts'
import { generalEnv } from '../system/environment.ts'
import { TYPESCRIPT_ARGS } from './typescript.ts'

/** A child as the data directory records it. */
interface RecordedChild extends ProcessId {
  name: string
}

const RECOVERY_LIMIT_MS = 15_000

/**
 * The list of running children, stored where it outlives this process: in the child reaper, which ends
 * them when this process dies, and in a file of the data directory for the next start.
 */
export class ChildList {
  #children = new Map<number, RecordedChild>()
  #file: string
  #reaper: ChildProcess | undefined

  constructor(dir: string) {
    this.#file = path.join(dir, 'processes.json')
  }

  add(name: string, pid: number, stopWith: NodeJS.Signals): void {
    const born = birth(pid)
    this.#children.set(pid, { name, pid, born })
    this.#reaper ??= startReaper()
    this.#reaper.stdin?.write(`+ ${pid} ${born} ${stopWith}\n`)
    this.#save()
  }

  remove(pid: number): void {
    if (!this.#children.delete(pid)) return
    this.#reaper?.stdin?.write(`- ${pid}\n`)
    this.#save()
  }

  /** Ends the reaper; called when no child is left. */
  close(): void {
    this.#reaper?.stdin?.end()
    this.#reaper = undefined
  }

  /** Waits until the reaper of an earlier supervisor has ended its children; kills them after the limit. */
  async recover(limitMs = RECOVERY_LIMIT_MS): Promise<void> {
    const before = this.#load()
    for (const { pid } of await untilGone(before, limitMs)) signal(pid, 'SIGKILL')
    const [stuck] = await untilGone(before, RECOVERY_LIMIT_MS)
    if (stuck) throw new Error(`cannot end ${stuck.name}, process ${stuck.pid} of an earlier start`)
  }

  #load(): RecordedChild[] {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8'))
    } catch {
      return []
    }
  }

  #save(): void {
    writeFileSync(this.#file, JSON.stringify([...this.#children.values()]), { mode: 0o600 })
  }
}

function startReaper(): ChildProcess {
  const script = fileURLToPath(new URL('child-reaper.ts', import.meta.url))
  const reaper = spawn(process.execPath, [...TYPESCRIPT_ARGS, script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: generalEnv(),
  })
  reaper.stdin.on('error', () => {})
  if (reaper.stdin instanceof Socket) reaper.stdin.unref()
  reaper.unref()
  return reaper
}
