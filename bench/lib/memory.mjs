import { readFileSync } from 'node:fs'

/** Returns the resident memory of each named process, without children, in MiB. */
export const residentMiB = (named) =>
  Object.fromEntries(Object.entries(named).map(([name, pid]) => [name, resident(pid)]))

function resident(pid) {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib ?? 0) / 1_024)
}
