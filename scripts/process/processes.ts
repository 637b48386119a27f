import { type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { signal } from '../../packages/runtime/src/process/pids.ts'
import { generalEnv } from '../system/environment.ts'
import { ChildList } from './child-list.ts'
import { describe, type Exit, rotate, tail } from './logs.ts'
import { stopSignal } from './signals.ts'

/** A program that runs as a child process. */
export interface Program {
  name: string
  command: string
  args?: string[]
  env?: NodeJS.ProcessEnv
  cwd?: string
  user?: Pick<SpawnOptions, 'uid' | 'gid'>
  /** Returns a text that the child reads from file descriptor 3; called at every start. */
  input?: () => string
  /** Signal that stops it; SIGTERM if absent. */
  stopWith?: NodeJS.Signals
  /** Children of a higher tier are stopped before those of a lower one; 0 if absent. */
  tier?: number
  /** May end any number of times without stopping the system. */
  expendable?: boolean
}

/** A started program. */
export interface Child {
  program: Program
  name: string
  /** Undefined if the program could not be run. */
  pid: number | undefined
  logFile: string
  logFrom: number
  ended: Exit | undefined
  /** Resolves at its end, even when the program could not be run. */
  exited: Promise<Exit>
}

const STOP_LIMIT_MS = 25_000 // longer than a service gives itself
const PROBE_PAUSE_MS = 30

/**
 * The child processes of one data directory. Each has a log file and a process group of its own
 * (so that Ctrl-C reaches only the supervisor, which stops them in order), and none of them
 * outlives the supervisor.
 */
export class Processes {
  #children = new Set<Child>()
  #logs: string
  #list: ChildList

  constructor(dir: string) {
    this.#logs = path.join(dir, 'logs')
    this.#list = new ChildList(dir)
    mkdirSync(this.#logs, { recursive: true, mode: 0o700 })
  }

  /** Ends processes of an earlier supervisor; await it before the first start. */
  recover(limitMs?: number): Promise<void> {
    return this.#list.recover(limitMs)
  }

  /** Starts a program with a log file of its own. */
  start(program: Program): Child {
    const { name, command, args = [], env = generalEnv(), cwd, user, input } = program
    const logFile = path.join(this.#logs, `${name}.log`)
    const logFrom = rotate(logFile)
    const log = openSync(logFile, 'a', 0o600)
    const stdio = ['ignore' as const, log, log, ...(input ? ['pipe' as const] : [])]
    const spawned = spawn(command, args, { cwd, env, detached: true, stdio, ...user })
    closeSync(log)
    if (input) send(input(), spawned.stdio[3])
    const exited = new Promise<Exit>((resolve) => {
      spawned.once('error', (error) => resolve({ code: error.message, signal: null }))
      spawned.once('exit', (code, by) => resolve({ code, signal: by }))
    }).then((end) => this.#forget(child, end))
    const { pid } = spawned
    const child: Child = { program, name, pid, logFile, logFrom, ended: undefined, exited }
    if (pid !== undefined) {
      this.#children.add(child)
      this.#list.add(name, pid, stopSignalOf(program))
    }
    return child
  }

  /** Stops a child and waits for its end: its own stop signal first, SIGKILL after the limit. */
  async stop(child: Child): Promise<void> {
    const { pid } = child
    if (child.ended !== undefined || pid === undefined) return
    signal(pid, stopSignalOf(child.program))
    const forceStop = setTimeout(() => signal(pid, 'SIGKILL'), STOP_LIMIT_MS)
    await child.exited
    clearTimeout(forceStop)
  }

  /** The number of running children. */
  get count(): number {
    return this.#children.size
  }

  /** Kills the children that may end at any time, without a warning; returns their number. */
  killExpendable(): number {
    const expendable = [...this.#children].filter(({ program }) => program.expendable)
    return expendable.filter(({ pid }) => pid !== undefined && signal(pid, 'SIGKILL')).length
  }

  /** Stops all children, tier by tier; nothing runs when it resolves. */
  async stopAll(): Promise<void> {
    while (this.count > 0) {
      const left = [...this.#children]
      const highest = Math.max(...left.map(tierOf))
      const tier = left.filter((child) => tierOf(child) === highest)
      await Promise.all(tier.map((child) => this.stop(child)))
    }
    this.#list.close()
  }

  /** Resolves when `probe()` is true; throws with the end of the log if the child ends or is late. */
  async untilReady(
    child: Child,
    probe: () => boolean | Promise<boolean>,
    limitMs: number,
  ): Promise<void> {
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

  #forget(child: Child, end: Exit): Exit {
    child.ended = end
    this.#children.delete(child)
    if (child.pid !== undefined) this.#list.remove(child.pid)
    return end
  }
}

function send(text: string, pipe: unknown): void {
  if (!(pipe instanceof Writable)) return
  pipe.on('error', () => {}) // the child ended before it read; `exited` reports that
  pipe.end(text)
}

const stopSignalOf = ({ stopWith = 'SIGTERM' }: Program) => stopWith

function tierOf(child: Child): number {
  return child.program.tier ?? 0
}
