import type { Verdict } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { ExplainResponse } from '@windlass/proto/windlass/executions/v1/executions'
import { z } from 'zod'
import { isVisibleTo } from '../access/worker-visibility.ts'
import { listApprovals } from '../clients/approvals-client.ts'
import type { Clients } from '../clients/connect.ts'
import { explain, isEligible, type Place, unmet } from '../domain/explain.ts'
import { route } from '../route/route.ts'
import { timeOf } from './responses.ts'

type Deps = Pick<Clients, 'approvals' | 'fleet' | 'queue'>

const amount = z.number().nullable()

const Explanation = z
  .object({
    execution_id: z.string(),
    state: z.string(),
    reason: z.string(),
    /** Counted up to 10,000; null if it is not queued. */
    queue_position: z.int().nullable(),
    queued_at: z.string().nullable(),
    held_by: z.string().nullable(),
    deadline_at: z.string().nullable(),
    /** Worker that lost it after it was cancelled, so that another one may continue its compensations. */
    handed_over_by: z.string().nullable(),
    /** Compensations without an outcome, by their calls, if it is CANCELLED; the first hundred. */
    undone: z.array(z.string()),
    requirement: z.object({
      cpu: amount,
      memory: amount,
      disk: amount,
      gpu: amount,
      packages: z.array(z.string()),
      affinity: z.record(z.string(), z.string()),
      runner: z.string().nullable(),
    }),
    /** Every part of the requirement in words. */
    needs: z.array(z.string()),
    workers: z.array(
      z.object({
        name: z.string(),
        status: z.string(),
        eligible: z.boolean(),
        /** First reason why it does not take the execution now. */
        unmet: z.string().nullable(),
        /** Those of `needs` that it does not meet. */
        lacking: z.array(z.string()),
        used: z.int(),
        capacity: z.int().nullable(),
      }),
    ),
    /** Workers that run other namespaces only, which the caller may not see. */
    other_workers: z.int(),
    suggestion: z.string().nullable(),
  })
  .meta({ id: 'ExecutionExplanation' })

export const explainExecution = route('get', '/executions/{execution_id}/explain', {
  summary:
    'Explain why an execution does not run, with the smallest change that would let it start',
  access: 'may read execution',
  returns: Explanation,
  async handle({ params: { execution_id }, caller }, deps: Deps) {
    const wait = await deps.queue.explain({ execution_id })
    const [{ verdicts: all, needs }, gates] = await Promise.all([
      deps.fleet.explain({ requirement: wait.requirement }),
      gatesOf(deps, execution_id, wait),
    ])
    // Leaves out only workers of other namespaces. They cannot run it, so the explanation misses nothing.
    const isVisible = isVisibleTo(caller)
    const namespace = wait.requirement?.namespace ?? ''
    const verdicts = all.filter(
      (one) => isVisible(one) || one.namespaces?.names.includes(namespace),
    )
    const places = await placesOf(deps, verdicts)
    const deadline_at = timeOf(wait.deadline_at)
    return {
      execution_id,
      state: wait.state,
      ...explain({ ...wait, deadline_at, gates, needs }, places),
      queue_position: wait.queue_position || null,
      queued_at: timeOf(wait.queued_at),
      held_by: wait.held_by || null,
      deadline_at,
      handed_over_by: wait.handed_over_by || null,
      undone: wait.undone,
      requirement: requirementOf(wait),
      other_workers: all.length - verdicts.length,
      needs,
      workers: places.map((place) => ({
        name: place.name,
        status: place.status,
        eligible: isEligible(place),
        unmet: unmet(place) ?? null,
        lacking: [...place.lacking],
        used: place.used,
        capacity: place.capacity || null,
      })),
    }
  },
})

function requirementOf({ requirement }: ExplainResponse) {
  const { cpu = null, memory = null, disk = null, gpu = null } = requirement ?? {}
  const { packages = [], affinity = {}, runner = '' } = requirement ?? {}
  return { cpu, memory, disk, gpu, packages, affinity, runner: runner || null }
}

/** Returns the tasks of a paused execution with pending approvals, oldest first. */
async function gatesOf(deps: Deps, execution_id: string, { state }: ExplainResponse) {
  if (state !== 'PAUSED') return []
  const { approvals } = await listApprovals(deps, { execution_id, status: 'pending' })
  return approvals.map(({ task_name }) => task_name).reverse()
}

async function placesOf({ queue }: Deps, verdicts: readonly Verdict[]): Promise<Place[]> {
  const { loads } = await queue.loads({ worker_names: verdicts.map(({ name }) => name) })
  const used = new Map(loads.map((load) => [load.worker_name, load.used]))
  return verdicts.map((verdict) => ({ ...verdict, used: used.get(verdict.name) ?? 0 }))
}
