import { toVisibilityMessage, type Visibility } from '@windlass/domain/visibility'
import type {
  HistoryService,
  QueueDepth,
  StatsBucket,
  StatsRequest,
} from '@windlass/proto/windlass/executions/v1/history'
import type { RpcClient } from '@windlass/rpc/client'
import { type Problem, unprocessable } from '@windlass/runtime/faults'
import { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import { isVisibleTo } from '../access/worker-visibility.ts'
import type { Clients } from '../clients/connect.ts'
import { ofEarlierRelease, orUpgrade } from '../clients/or-upgrade.ts'
import { isEligible } from '../domain/explain.ts'
import { integer, nameFilter, text, time } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { QUEUE, STATS } from './examples.ts'
import { timeOf } from './responses.ts'

type Deps = { history: RpcClient<typeof HistoryService> }
type QueueDeps = Deps & Pick<Clients, 'fleet' | 'queue'>

const HOUR_MS = 3_600_000
const MAX_STEPS = 1_000

const percentiles = z
  .object({ p50: z.number(), p95: z.number(), p99: z.number() })
  .nullable()
  .meta({ id: 'Percentiles' })

const Stats = z
  .object({
    from: z.string(),
    to: z.string(),
    /** Seconds. */
    step: z.int(),
    buckets: z.array(
      z.object({
        /** Workflow, version, worker or error; null without `group`. */
        group: z.string().nullable(),
        /** Begin of the step. */
        at: z.string(),
        /** Executions that were created in the step. */
        started: z.int(),
        /** Executions that ended in the step, whatever their state. */
        ended: z.int(),
        failed: z.int(),
        /** Seconds from the creation to the first claim, of those that ended in the step. */
        queue_wait: percentiles,
        /** Seconds from the first claim to the end. */
        run_time: percentiles,
      }),
    ),
    /**
     * True if the range holds more executions than one request measures: earlier steps are missing or incomplete. Later
     * requests for the same steps continue with them.
     */
    cut: z.boolean(),
  })
  .meta({ id: 'ExecutionStats', examples: [STATS] })

const range = {
  /** The hour before `to` unless given. */
  from: time.meta({ examples: ['2026-11-23T08:00:00Z'] }),
  /** Now unless given. */
  to: time.meta({ examples: ['2026-11-23T09:00:00Z'] }),
  /** Seconds. */
  step: integer({ min: 1, max: 31_536_000 }).default(60),
}

type RangeQuery = z.output<z.ZodObject<typeof range>>

export const getStats = route('get', '/executions/stats', {
  summary: 'Count executions and measure their waits and run times, by steps of time',
  isExpensive: true,
  isShared: true,
  access: 'may list executions',
  query: {
    ...range,
    /** One series for each: the 50 with most executions. `version` requires `namespace` and `workflow_name`. */
    group: z.enum(['', 'workflow', 'version', 'worker', 'error']).default(''),
    namespace: text(255).default(''),
    workflow_name: nameFilter,
  },
  returns: Stats,
  async handle({ query, resolved: visible }, deps: Deps) {
    const { namespace, workflow_name } = query
    if (query.group === 'version' && (namespace === '' || workflow_name === ''))
      throw unprocessable(OF_ONE_WORKFLOW)
    return statsView(deps, visible, {
      ...{ query, group: query.group, worker_name: '' },
      ...{ workflow_namespace: namespace, workflow_name },
    })
  },
})

const OF_ONE_WORKFLOW: Problem = {
  loc: ['query', 'group'],
  msg: 'versions are those of one workflow: give `namespace` and `workflow_name` too',
  type: 'missing_filter',
}

export const getWorkerHistory = route('get', '/workers/{name}/history', {
  summary: 'Count the executions of a worker and measure them, by steps of time',
  isExpensive: true,
  isShared: true,
  access: 'may list executions',
  query: range,
  returns: Stats,
  handle: ({ params, query, resolved: visible }, deps: Deps) =>
    statsView(deps, visible, {
      ...{ query, group: '', worker_name: params.name },
      ...{ workflow_namespace: '', workflow_name: '' },
    }),
})

interface StatsOf
  extends Pick<StatsRequest, 'group' | 'worker_name' | 'workflow_namespace' | 'workflow_name'> {
  query: RangeQuery
}

async function statsView(
  { history }: Deps,
  visible: Visibility,
  { query, ...filter }: StatsOf,
): Promise<z.input<typeof Stats>> {
  const to = query.to ?? new Date()
  const from = query.from ?? new Date(to.getTime() - HOUR_MS)
  const [problem] = rangeProblems(from, to, query.step)
  if (problem) throw unprocessable(problem)
  const { buckets, cut } = await orUpgrade(
    history.stats({
      ...{ ...filter, from, to, step_seconds: query.step },
      visible: toVisibilityMessage(visible),
    }),
  )
  // A service of an earlier release does not group by version.
  if (filter.group === 'version' && buckets.some(({ group }) => group === ''))
    throw ofEarlierRelease('executions')
  const sorted = buckets.sort((a, b) => a.step - b.step || (a.group < b.group ? -1 : 1))
  return {
    ...{ from: from.toISOString(), to: to.toISOString(), step: query.step, cut },
    buckets: sorted.map((bucket) => bucketView(bucket, { from, step: query.step, ...filter })),
  }
}

function rangeProblems(from: Date, to: Date, step: number): Problem[] {
  const ms = to.getTime() - from.getTime()
  if (ms <= 0) return [{ loc: ['query', 'from'], msg: 'must be before `to`', type: 'value_error' }]
  const steps = Math.ceil(ms / (step * 1_000))
  const msg = `the range has ${steps} steps; at most ${MAX_STEPS} are allowed`
  return steps > MAX_STEPS ? [{ loc: ['query', 'step'], msg, type: 'value_error' }] : []
}

const bucketView = (
  { group, step: n, started, ended, failed, queue_wait, run_time }: StatsBucket,
  { from, step, group: by }: { from: Date; step: number; group: string },
) => ({
  group: by === '' ? null : group,
  at: new Date(from.getTime() + n * step * 1_000).toISOString(),
  ...{ started, ended, failed },
  ...{ queue_wait: percentilesOf(queue_wait), run_time: percentilesOf(run_time) },
})

function percentilesOf([p50, p95, p99]: readonly number[]) {
  if (p50 === undefined || p95 === undefined || p99 === undefined) return null
  return { p50, p95, p99 }
}

const Queue = z
  .object({
    /** Those with the oldest work first. */
    queues: z.array(
      z.object({
        requirement_id: z.string(),
        requirement: z.object({
          packages: z.array(z.string()),
          affinity: z.record(z.string(), z.string()),
          runner: z.string().nullable(),
          namespace: z.string().nullable(),
        }),
        /** Queued executions that the caller may read; at least so many unless `depth_exact`. */
        depth: z.int(),
        depth_exact: z.boolean(),
        oldest: z.string().nullable(),
        /** Executions in the last minute; `started`: of those that are new or that a worker holds. */
        rates: z.object({ created_per_minute: z.int(), started_per_minute: z.int() }),
        /** Connected workers that could run it, and the executions that they hold. */
        workers: z.array(
          z.object({ name: z.string(), used: z.int(), capacity: z.int().nullable() }),
        ),
      }),
    ),
    /** True if there are more requirements. */
    cut: z.boolean(),
  })
  .meta({ id: 'Queue', examples: [QUEUE] })

export const getQueue = route('get', '/queue', {
  summary: 'Show the ready queue by requirement, with the workers that could run it',
  isExpensive: true,
  isShared: true,
  access: 'may list executions',
  returns: Queue,
  async handle({ resolved: visible, caller }, deps: QueueDeps) {
    const request = { visible: toVisibilityMessage(visible) }
    const { queues, cut } = await orUpgrade(deps.history.queueDepths(request))
    return { queues: await Promise.all(queues.map((one) => queueView(deps, caller, one))), cut }
  },
})

async function queueView(deps: QueueDeps, caller: Caller, queue: QueueDepth) {
  const { requirement } = queue
  const { verdicts } = await deps.fleet.explain({ requirement })
  const isVisible = isVisibleTo(caller)
  const eligible = verdicts.filter((one) => isVisible(one) && isEligible(one))
  const { loads } = await deps.queue.loads({ worker_names: eligible.map(({ name }) => name) })
  const used = new Map(loads.map((load) => [load.worker_name, load.used]))
  const { packages = [], affinity = {}, runner = '', namespace = '' } = requirement ?? {}
  return {
    requirement_id: queue.requirement_id,
    requirement: { packages, affinity, runner: runner || null, namespace: namespace || null },
    ...{ depth: queue.depth, depth_exact: queue.depth_exact, oldest: timeOf(queue.oldest) },
    rates: { created_per_minute: queue.created, started_per_minute: queue.started },
    workers: eligible.map(({ name, capacity }) => ({
      ...{ name, used: used.get(name) ?? 0, capacity: capacity || null },
    })),
  }
}
