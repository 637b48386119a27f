import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 25

/**
 * Returns the start time of a process as a text to compare (undefined: it has ended). A pid alone may
 * have been reused since it was recorded; pid and start time together identify one process.
 */
export function birth(pid) {
  return process.platform === 'linux' ? birthByProc(pid) : birthByPs(pid)
}

function birthByProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function birthByPs(pid) {
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
  })
  const [state, ...start] = (stdout ?? '').trim().split(/\s+/)
  return state === '' || state.startsWith('Z') ? undefined : start.join(' ')
}

/** Returns the command line of a process; empty if it has ended. */
export function commandOf(pid) {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  } catch {
    return ''
  }
}

/** Returns true if exactly this process, `{ pid, born }`, still runs. */
export function lives({ pid, born }) {
  const now = birth(pid)
  return now !== undefined && now === born
}

/** Signals the process group that a process leads, or the process if it leads none. */
export function signal(pid, name) {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, name)
      return
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
}

/** Waits until none of these processes runs; returns those that still run after `limitMs`. */
export async function untilGone(processes, limitMs) {
  const end = Date.now() + limitMs
  for (;;) {
    const alive = processes.filter(lives)
    if (alive.length === 0 || Date.now() >= end) return alive
    await sleep(POLL_MS)
  }
}
