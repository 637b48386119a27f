import { execFileSync } from 'node:child_process'
import { familyOf } from '../lib/process-tree.mjs'

/**
 * Returns the TCP packets, acknowledgements included, that the connections of the processes have sent so
 * far, and those with data; nothing where `ss` is missing. Closed connections are not counted.
 */
export function packetsOf(pids) {
  const family = familyOf(pids)
  const sums = { packets: 0, 'packets with data': 0 }
  for (const line of connections()) {
    const pid = Number(/pid=(\d+)/.exec(line)?.[1])
    if (!family.has(pid)) continue
    sums.packets += Number(/\bsegs_out:(\d+)/.exec(line)?.[1] ?? 0)
    sums['packets with data'] += Number(/data_segs_out:(\d+)/.exec(line)?.[1] ?? 0)
  }
  return sums
}

/** One line for each connection: its users, then the kernel's counters. */
function connections() {
  try {
    return execFileSync('ss', ['-tinpOH'], { encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\n')
  } catch {
    return []
  }
}
