import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generalEnv } from '../system/environment.mjs'
import { ChildList } from './child-list.mjs'
import { describe, rotate, tail } from './logs.mjs'
import { signal } from './pids.mjs'
import { stopSignal } from './signals.mjs'

const STOP_LIMIT_MS = 25_000 // longer than a service gives itself
const PROBE_PAUSE_MS = 30

/**
 * The child processes of one data directory. Each has a log file and a process group of its own
 * (so that Ctrl-C reaches only the supervisor, which stops them in order), and none of them
 * outlives the supervisor.
 */
export class Processes {
  #children = new Set()
  #logs
  #list

  constructor(dir) {
    this.#logs = path.join(dir, 'logs')
    this.#list = new ChildList(dir)
    mkdirSync(this.#logs, { recursive: true, mode: 0o700 })
  }

  /** Ends processes of an earlier supervisor; await it before the first start. */
  recover(limitMs) {
    return this.#list.recover(limitMs)
  }

  /**
   * Starts a program: `{ name, command, args, env, cwd, user, input, stopWith, tier }`. A child of a
   * higher tier is stopped before those of a lower one. `input` returns a text that the child reads
   * from file descriptor 3; it is called at every start. `exited` of the answer resolves to
   * `{ code, signal }`, also when the program could not be run.
   */
  start(program) {
    const { name, command, args = [], env = generalEnv(), cwd, user, input } = program
    const logFile = path.join(this.#logs, `${name}.log`)
    const logFrom = rotate(logFile)
    const log = openSync(logFile, 'a', 0o600)
    const stdio = ['ignore', log, log, ...(input ? ['pipe'] : [])]
    const spawned = spawn(command, args, { cwd, env, detached: true, stdio, ...user })
    closeSync(log)
    if (input) send(input(), spawned.stdio[3])
    const child = { program, name, pid: spawned.pid, logFile, logFrom, ended: undefined }
    child.exited = new Promise((resolve) => {
      spawned.once('error', (error) => resolve({ code: error.message, signal: null }))
      spawned.once('exit', (code, by) => resolve({ code, signal: by }))
    }).then((end) => this.#forget(child, end))
    if (child.pid !== undefined) {
      this.#children.add(child)
      this.#list.add(child)
    }
    return child
  }

  /** Stops a child and waits for its end: its own stop signal first, SIGKILL after the limit. */
  async stop(child) {
    if (child.ended !== undefined || child.pid === undefined) return
    signal(child.pid, child.program.stopWith ?? 'SIGTERM')
    const patience = setTimeout(() => signal(child.pid, 'SIGKILL'), STOP_LIMIT_MS)
    await child.exited
    clearTimeout(patience)
  }

  /** The number of running children. */
  get count() {
    return this.#children.size
  }

  /** Stops all children, tier by tier; nothing runs when it resolves. */
  async stopAll() {
    while (this.count > 0) {
      const left = [...this.#children]
      const highest = Math.max(...left.map(tierOf))
      const tier = left.filter((child) => tierOf(child) === highest)
      await Promise.all(tier.map((child) => this.stop(child)))
    }
    this.#list.close()
  }

  /** Resolves when `probe()` is true; throws with the end of the log if the child ends or is late. */
  async untilReady(child, probe, limitMs) {
    const deadline = Date.now() + limitMs
    while (!(await probe())) {
      stopSignal.throwIfAborted()
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
    this.#list.remove(child.pid)
    return end
  }
}

function send(text, pipe) {
  pipe.on('error', () => {}) // the child ended before it read; `exited` reports that
  pipe.end(text)
}

function tierOf(child) {
  return child.program.tier ?? 0
}
