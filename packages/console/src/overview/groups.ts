import type { Stats } from '../api/stats.ts'

export const GROUPS = ['workflow', 'worker', 'error'] as const
export type Group = (typeof GROUPS)[number]

export interface GroupRow {
  name: string
  started: number
  ended: number
  failed: number
}

/** Sums of each group over all steps, the one with most executions first. */
export function groupRows({ buckets }: Pick<Stats, 'buckets'>): GroupRow[] {
  const rows = new Map<string, GroupRow>()
  for (const { group, started, ended, failed } of buckets) {
    const name = group ?? ''
    const row = rows.get(name) ?? { name, started: 0, ended: 0, failed: 0 }
    row.started += started
    row.ended += ended
    row.failed += failed
    rows.set(name, row)
  }
  return [...rows.values()].sort((a, b) => b.started - a.started || b.ended - a.ended)
}

/** Length of a filter that the server takes. */
const MAX_FILTER = 255

/**
 * The filter of the list that finds the executions of a group; undefined for those without a value. The
 * server searches errors within a time only, so that filter has one: `from`, an RFC 3339 time.
 */
export function filterOf(
  group: Group,
  name: string,
  from: string,
): Record<string, string> | undefined {
  if (name === '') return undefined
  if (group === 'worker') return { worker_name: name }
  if (group === 'error')
    return { error: name.slice(0, MAX_FILTER), state: 'FAILED', created_after: from }
  const slash = name.indexOf('/')
  return { namespace: name.slice(0, slash), workflow_name: name.slice(slash + 1) }
}
