import { readdirSync, readFileSync } from 'node:fs'

/** Maps the ids of the named processes and of their descendants to the name of the process. */
export function familyOf(named) {
  const parents = new Map(
    readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .map((pid) => [Number(pid), parentOf(pid)]),
  )
  const owners = new Map()
  const add = (pid, name) => {
    owners.set(pid, name)
    for (const [child, parent] of parents) if (parent === pid) add(child, name)
  }
  for (const [name, pid] of Object.entries(named)) add(pid, name)
  return owners
}

function parentOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1])
  } catch {
    return undefined // it has ended
  }
}
