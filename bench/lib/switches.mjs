import { readdirSync, readFileSync } from 'node:fs'
import { familyOf } from './process-tree.mjs'

const NS_PER_MS = 1e6

/**
 * Returns for each named process, with its descendants, the CPU time so far in ms and how often one of its threads
 * was put on a core, from the scheduler (`schedstat` of each thread): exact where the accounting in ticks of 10 ms is not.
 */
export function scheduled(named) {
  const totals = Object.fromEntries(
    Object.keys(named).map((name) => [name, { ms: 0, switches: 0 }]),
  )
  for (const [pid, name] of familyOf(named))
    for (const [ns, , times] of threadsOf(pid)) {
      totals[name].ms += ns / NS_PER_MS
      totals[name].switches += times
    }
  return totals
}

function threadsOf(pid) {
  const folder = `/proc/${pid}/task`
  try {
    return readdirSync(folder).map((id) =>
      readFileSync(`${folder}/${id}/schedstat`, 'utf8').split(' ').map(Number),
    )
  } catch {
    return [] // it has ended
  }
}
