import { readFileSync } from 'node:fs'
import path from 'node:path'

const CONTROLLERS = '/sys/fs/cgroup'

/**
 * Returns how many processors this process may use at most, by its control group (Linux, versions 1 and 2): the limit
 * of a container. Infinity without a limit, or where it cannot be read. `root` is the root of the file system.
 */
export function cpuLimit(root = '/'): number {
  const groups = textOf(root, '/proc/self/cgroup')?.split('\n') ?? []
  const limits = groups.map((line) => {
    const [, controllers = '', group = ''] = line.split(':')
    // In a container the folder of the group may be mounted as the root of all groups.
    const folders = [group, '/']
    if (controllers === '') return first(folders, (folder) => unifiedLimit(root, folder))
    if (!controllers.split(',').includes('cpu')) return undefined
    return first(folders, (folder) => quotaLimit(root, `/${controllers}${folder}`))
  })
  return Math.min(...limits.filter((limit) => limit !== undefined), Infinity)
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

function first<T>(all: string[], find: (one: string) => T | undefined): T | undefined {
  for (const one of all) {
    const found = find(one)
    if (found !== undefined) return found
  }
  return undefined
}

function textOf(root: string, file: string): string | undefined {
  try {
    return readFileSync(path.join(root, file), 'utf8')
  } catch {
    return undefined
  }
}
