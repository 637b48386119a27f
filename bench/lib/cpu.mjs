import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100 // USER_HZ, which Linux fixes for /proc

/**
 * Returns the CPU seconds of each named process so far, including its descendants, from the operating
 * system's accounting (proc(5): utime, stime, and cutime, cstime of ended children).
 */
export function cpuSeconds(named) {
  const all = readAll()
  return Object.fromEntries(
    Object.entries(named).map(([name, pid]) => [name, sum(pid, all) / TICKS_PER_SECOND]),
  )
}

/** Returns the use between two readings, in milliseconds per operation. */
export function perOperation(before, after, operations) {
  return Object.fromEntries(
    Object.keys(after).map((name) => [name, ((after[name] - before[name]) * 1_000) / operations]),
  )
}

function readAll() {
  const processes = new Map()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = read(`/proc/${pid}/stat`)
    // The name in parentheses may contain blanks; fields are counted after it.
    const fields = stat
      ?.slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    if (fields)
      processes.set(Number(pid), {
        parent: fields[1],
        ticks: fields[11] + fields[12],
        ended: fields[13] + fields[14],
      })
  }
  return processes
}

function sum(pid, all) {
  const own = all.get(pid)
  if (!own) return 0
  const children = [...all].filter(([, { parent }]) => parent === pid)
  return own.ticks + own.ended + children.reduce((total, [child]) => total + sum(child, all), 0)
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
