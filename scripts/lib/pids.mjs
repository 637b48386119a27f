import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 25

/**
 * When a process began, as a text to compare (undefined: it is gone). A pid alone may have been
 * given to another process since it was written down; pid and start together name one process.
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

/** The command line of a process; empty when it is gone. */
export function commandOf(pid) {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  } catch {
    return ''
  }
}

/** Whether exactly this process, `{ pid, born }`, still runs. */
export function lives({ pid, born }) {
  const now = birth(pid)
  return now !== undefined && now === born
}

/** Signals the process group that a process leads, or the process where it leads none. */
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

/** Waits until none of these processes runs; returns those that still do after `limitMs`. */
export async function untilGone(processes, limitMs) {
  const end = Date.now() + limitMs
  for (;;) {
    const alive = processes.filter(lives)
    if (alive.length === 0 || Date.now() >= end) return alive
    await sleep(POLL_MS)
  }
}
