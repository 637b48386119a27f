import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, rotate, tail } from './logs.mjs'
import { signal } from './pids.mjs'
import { Roster } from './roster.mjs'

const STOP_LIMIT_MS = 10_000
const PROBE_PAUSE_MS = 30

/**
 * The child processes of one data directory. Each has a log file and a process group of its own
 * (so that Ctrl-C reaches only the supervisor, which stops them in order), and none of them
 * outlives the supervisor.
 */
export class Processes {
  #children = new Set()
  #logs
  #roster

  constructor(dir) {
    this.#logs = path.join(dir, 'logs')
    this.#roster = new Roster(dir)
    mkdirSync(this.#logs, { recursive: true, mode: 0o700 })
  }

  /** To be awaited before the first start: ends what an earlier supervisor left behind. */
  recover() {
    return this.#roster.recover()
  }

  /** Starts a program; `exited` resolves to `{ code, signal }`, also when it could not be run. */
  start({ name, command, args = [], env = process.env, cwd, user, stopSignal = 'SIGTERM' }) {
    const logFile = path.join(this.#logs, `${name}.log`)
    const logFrom = rotate(logFile)
    const log = openSync(logFile, 'a', 0o600)
    const options = { cwd, env, detached: true, stdio: ['ignore', log, log], ...user }
    const spawned = spawn(command, args, options)
    closeSync(log)
    const child = { name, pid: spawned.pid, stopSignal, logFile, logFrom, ended: undefined }
    child.exited = new Promise((resolve) => {
      spawned.once('error', (error) => resolve({ code: error.message, signal: null }))
      spawned.once('exit', (code, by) => resolve({ code, signal: by }))
    }).then((end) => this.#forget(child, end))
    if (child.pid !== undefined) {
      this.#children.add(child)
      this.#roster.add(child)
    }
    return child
  }

  /** Stops a child and waits for its end: its stop signal first, SIGKILL after `limitMs`. */
  async stop(child, limitMs = STOP_LIMIT_MS) {
    if (child.ended !== undefined || child.pid === undefined) return
    signal(child.pid, child.stopSignal)
    const patience = setTimeout(() => signal(child.pid, 'SIGKILL'), limitMs)
    await child.exited
    clearTimeout(patience)
  }

  /** Stops all children in the reverse order of their start; nothing runs when it resolves. */
  async stopAll() {
    for (const child of [...this.#children].reverse()) await this.stop(child)
    this.#roster.close()
  }

  /** Resolves when `probe()` is true; throws with the end of the log if the child ends or is late. */
  async untilReady(child, probe, limitMs) {
    const deadline = Date.now() + limitMs
    while (!(await probe())) {
      if (child.ended) {
        throw new Error(`${child.name} ended at start (${describe(child.ended)})${tail(child)}`)
      }
      if (Date.now() > deadline) {
        await this.stop(child)
        throw new Error(`${child.name} was not ready after ${limitMs / 1000} s${tail(child)}`)
      }
      await sleep(PROBE_PAUSE_MS)
    }
  }

  #forget(child, end) {
    child.ended = end
    this.#children.delete(child)
    this.#roster.remove(child.pid)
    return end
  }
}
