import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'

const PERIOD_US = 100_000
const ROOTS = [
  { folder: '/sys/fs/cgroup/cpu', version: 1 },
  { folder: '/sys/fs/cgroup', version: 2 },
]

/**
 * Limits each process to a share of one core (1: a whole core) with a control group of its own. Returns
 * `release`, which ends the limits, and `isLimited`: false where no control group can be made (other systems,
 * missing rights); then nothing is limited.
 */
export function limitCpu(pids, share) {
  const groups = new Map()
  const release = () => {
    for (const [group, pid] of groups) {
      // A group with a process cannot be removed.
      if (existsSync(`/proc/${pid}`)) writeFileSync(`${root.folder}/cgroup.procs`, String(pid))
      rmdirSync(group)
    }
  }
  const root = ROOTS.find(({ folder, version }) =>
    existsSync(`${folder}/${version === 1 ? 'cpu.cfs_quota_us' : 'cgroup.controllers'}`),
  )
  if (!root) return { isLimited: false, release }
  try {
    for (const pid of pids) {
      const group = `${root.folder}/windlass-bench-${pid}`
      mkdirSync(group)
      groups.set(group, pid)
      const quota = Math.round(share * PERIOD_US)
      if (root.version === 1) writeFileSync(`${group}/cpu.cfs_quota_us`, String(quota))
      else writeFileSync(`${group}/cpu.max`, `${quota} ${PERIOD_US}`)
      writeFileSync(`${group}/cgroup.procs`, String(pid))
    }
  } catch {
    return { isLimited: false, release }
  }
  return { isLimited: true, release }
}
