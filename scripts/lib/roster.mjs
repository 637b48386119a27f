import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { generalEnv } from './environment.mjs'
import { birth, signal, untilGone } from './pids.mjs'

const RECOVERY_LIMIT_MS = 15_000

/**
 * The list of living children, kept where it outlives this process: with the warden, which ends
 * them when we die, and in a file of the data directory, for the next start to look at.
 */
export class Roster {
  #children = new Map()
  #file
  #warden

  constructor(dir) {
    this.#file = path.join(dir, 'processes.json')
  }

  add({ name, pid, program }) {
    const born = birth(pid)
    this.#children.set(pid, { name, pid, born })
    this.#warden ??= startWarden()
    this.#warden.stdin.write(`+ ${pid} ${born} ${program.stopWith ?? 'SIGTERM'}\n`)
    this.#save()
  }

  remove(pid) {
    if (!this.#children.delete(pid)) return
    this.#warden?.stdin.write(`- ${pid}\n`)
    this.#save()
  }

  /** Lets the warden go; called when no child is left. */
  close() {
    this.#warden?.stdin.end()
    this.#warden = undefined
  }

  /** Sees off what an earlier supervisor of this directory left: its warden is ending them now. */
  async recover(patienceMs = RECOVERY_LIMIT_MS) {
    const before = this.#load()
    for (const { pid } of await untilGone(before, patienceMs)) signal(pid, 'SIGKILL')
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

function startWarden() {
  const script = fileURLToPath(new URL('warden.mjs', import.meta.url))
  const stdio = ['pipe', 'ignore', 'ignore']
  const options = { detached: true, stdio, env: generalEnv() }
  const warden = spawn(process.execPath, [script], options)
  warden.stdin.on('error', () => {})
  warden.stdin.unref()
  warden.unref()
  return warden
}
