import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 25

/** Identifies one process: a pid alone may have been reused since it was recorded. */
export interface ProcessId {
  pid: number
  /** Start time, as a text to compare. */
  born: string | undefined
}

/** Returns the start time of a process as a text to compare, or undefined if it has ended. */
export function birth(pid: number): string | undefined {
  return process.platform === 'linux' ? birthByProc(pid) : birthByPs(pid)
}

function birthByProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function birthByPs(pid: number): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
  })
  const [state = '', ...start] = (stdout ?? '').trim().split(/\s+/)
  return state === '' || state.startsWith('Z') ? undefined : start.join(' ')
}

/** Returns the command line of a process; empty if it has ended. */
export function commandOf(pid: string | number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  } catch {
    return ''
  }
}

/** Returns true if exactly this process still runs. */
export function lives({ pid, born }: ProcessId): boolean {
  const now = birth(pid)
  return now !== undefined && now === born
}

/** Signals the process group that a process leads, or the process if it leads none. Returns false if it has ended. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  return signalIfRunning(-pid, name) || signalIfRunning(pid, name)
}

/** Signals one process, or a group by its negative number; returns false if it has ended. */
export function signalIfRunning(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/** Waits until none of these processes runs; returns those that still run after `limitMs`. */
export async function untilGone<P extends ProcessId>(processes: P[], limitMs: number) {
  const end = Date.now() + limitMs
  for (;;) {
    const alive = processes.filter(lives)
    if (alive.length === 0 || Date.now() >= end) return alive
    await sleep(POLL_MS)
  }
}
