import { readFileSync } from 'node:fs'

/** Resident memory of each named process by itself, in MiB, from the operating system. */
export const residentMiB = (named) =>
  Object.fromEntries(Object.entries(named).map(([name, pid]) => [name, resident(pid)]))

function resident(pid) {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib ?? 0) / 1_024)
}
