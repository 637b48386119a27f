import { readFileSync } from 'node:fs'
import path from 'node:path'

const CONTROLLERS = '/sys/fs/cgroup'

/**
 * Returns how many processors this process may use at most, by its control groups (Linux, versions 1 and 2): the limit
 * of a container. Infinity without a limit, or where it cannot be read. `root` is the root of the file system.
 */
export function cpuLimit(root = '/'): number {
  const groups = textOf(root, '/proc/self/cgroup')?.split('\n') ?? []
  const limits = groups.flatMap((line) => {
    const [, controllers = '', group = ''] = line.split(':')
    if (controllers === '') return enclosing(group).map((folder) => unifiedLimit(root, folder))
    if (!controllers.split(',').includes('cpu')) return []
    return enclosing(group).map((folder) => quotaLimit(root, `/${controllers}${folder}`))
  })
  return Math.min(...limits.filter((limit) => limit !== undefined), Infinity)
}

/**
 * Returns a group and all that enclose it, whose limits apply too. In a container the folder of its group may be mounted
 * as that of the outermost one.
 */
function enclosing(group: string): string[] {
  return group === '/' || group === '' ? ['/'] : [group, ...enclosing(path.posix.dirname(group))]
}

/** Version 2: `QUOTA PERIOD`, of which QUOTA may be `max`. */
function unifiedLimit(root: string, folder: string): number | undefined {
  const [quota, period] = textOf(root, `${CONTROLLERS}${folder}/cpu.max`)?.trim().split(' ') ?? []
  return quotient(quota, period)
}

/** Version 1: a quota of -1 is no limit. */
function quotaLimit(root: string, folder: string): number | undefined {
  const of = (name: string) => textOf(root, `${CONTROLLERS}${folder}/${name}`)?.trim()
  return quotient(of('cpu.cfs_quota_us'), of('cpu.cfs_period_us'))
}

function quotient(quota: string | undefined, period: string | undefined): number | undefined {
  const limit = Number(quota) / Number(period)
  return limit > 0 ? limit : undefined
}

function textOf(root: string, file: string): string | undefined {
  try {
    return readFileSync(path.join(root, file), 'utf8')
  } catch {
    return undefined
  }
}
