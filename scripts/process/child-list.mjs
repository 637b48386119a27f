import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { generalEnv } from '../system/environment.mjs'
import { birth, signal, untilGone } from './pids.mjs'

const RECOVERY_LIMIT_MS = 15_000

/**
 * The list of running children, stored where it outlives this process: in the child reaper, which ends
 * them when this process dies, and in a file of the data directory for the next start.
 */
export class ChildList {
  #children = new Map()
  #file
  #reaper

  constructor(dir) {
    this.#file = path.join(dir, 'processes.json')
  }

  add({ name, pid, program }) {
    const born = birth(pid)
    this.#children.set(pid, { name, pid, born })
    this.#reaper ??= startReaper()
    this.#reaper.stdin.write(`+ ${pid} ${born} ${program.stopWith ?? 'SIGTERM'}\n`)
    this.#save()
  }

  remove(pid) {
    if (!this.#children.delete(pid)) return
    this.#reaper?.stdin.write(`- ${pid}\n`)
    this.#save()
  }

  /** Ends the reaper; called when no child is left. */
  close() {
    this.#reaper?.stdin.end()
    this.#reaper = undefined
  }

  /** Waits until the reaper of an earlier supervisor has ended its children; kills them after the limit. */
  async recover(limitMs = RECOVERY_LIMIT_MS) {
    const before = this.#load()
    for (const { pid } of await untilGone(before, limitMs)) signal(pid, 'SIGKILL')
    const [stuck] = await untilGone(before, RECOVERY_LIMIT_MS)
    if (stuck) throw new Error(`cannot end ${stuck.name}, process ${stuck.pid} of an earlier start`)
  }

  #load() {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8'))
    } catch {
      return []
    }
  }

  #save() {
    writeFileSync(this.#file, JSON.stringify([...this.#children.values()]), { mode: 0o600 })
  }
}

function startReaper() {
  const script = fileURLToPath(new URL('child-reaper.mjs', import.meta.url))
  const stdio = ['pipe', 'ignore', 'ignore']
  const options = { detached: true, stdio, env: generalEnv() }
  const reaper = spawn(process.execPath, [script], options)
  reaper.stdin.on('error', () => {})
  reaper.stdin.unref()
  reaper.unref()
  return reaper
}
