import { readVisibility } from '@windlass/domain/visibility'
import type { HistoryService, StatsBucket } from '@windlass/proto/windlass/executions/v1/history'
import type { Handlers } from '@windlass/rpc/call'
import { invalid } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import * as store from '../store/stats.ts'
import { MeasuredSteps } from './measured-steps.ts'
import { parseRequirement } from './requirement.ts'

type Rpcs = Handlers<typeof HistoryService>

/** Maximum number of groups in the answer: those with the most ends. */
const MAX_GROUPS = 50

/** Creates the handlers that count executions. */
export function statisticsHandlers(db: Db): Pick<Rpcs, 'stats' | 'queueDepths'> {
  const steps = new MeasuredSteps((filter, limit) => store.measure(db, filter, limit))
  return {
    async stats({ visible, from, to, ...request }) {
      if (!from || !to) throw invalid('Statistics need a range of time.')
      const filter = { ...request, visible: readVisibility(visible), from, to }
      const { created, ended, cut } = await steps.read(filter)
      return { buckets: bucketsOf(created, ended), cut }
    },

    async queueDepths({ visible }) {
      const rows = await store.queueDepths(db, readVisibility(visible))
      return {
        queues: rows.slice(0, store.MAX_REQUIREMENTS).map(({ body, depth, ...row }) => ({
          ...row,
          requirement: parseRequirement(body),
          depth: Math.min(depth, store.MAX_DEPTH),
          depth_exact: depth <= store.MAX_DEPTH,
        })),
        cut: rows.length > store.MAX_REQUIREMENTS,
      }
    },
  }
}

/** One bucket for each step and group with executions. */
function bucketsOf(
  created: readonly store.Bucket[],
  ended: readonly store.EndBucket[],
): StatsBucket[] {
  const listed = largestGroups([...ended, ...created])
  const buckets = new Map<string, StatsBucket>()
  const add = ({ group, step }: store.Bucket, measured: Partial<StatsBucket>) => {
    if (!listed.has(group)) return
    const none = { started: 0, ended: 0, failed: 0, queue_wait: [], run_time: [] }
    const key = `${step} ${group}`
    buckets.set(key, { ...none, ...buckets.get(key), group, step, ...measured })
  }
  for (const row of created) add(row, { started: row.count })
  for (const row of ended)
    add(row, {
      ...{ ended: row.count, failed: row.failed },
      ...{ queue_wait: numbers(row.queue_wait), run_time: numbers(row.run_time) },
    })
  return [...buckets.values()]
}

const numbers = (values: (number | null)[] | undefined) =>
  (values ?? []).filter((value): value is number => value !== null)

function largestGroups(rows: readonly store.Bucket[]): Set<string> {
  const counts = new Map<string, number>()
  for (const { group, count } of rows) counts.set(group, (counts.get(group) ?? 0) + count)
  const sorted = [...counts].sort((a, b) => b[1] - a[1])
  return new Set(sorted.slice(0, MAX_GROUPS).map(([group]) => group))
}
