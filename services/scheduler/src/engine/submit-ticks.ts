import { ANONYMOUS_CALLER } from '@windlass/domain/caller'
import { declaredPriority, declaredTags } from '@windlass/domain/permissions'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import {
  type Command,
  ExecutionsService,
  type Result,
} from '@windlass/proto/windlass/executions/v1/executions'
import * as schedules from '../store/schedules.ts'
import * as ticks from '../store/ticks.ts'
import { findInputProblem } from './check-inputs.ts'
import type { SchedulerDeps } from './deps.ts'
import { LEASE_MS, SUBMIT_MS } from './lease.ts'
import { failedOutcome, startedOutcome } from './tick-outcomes.ts'
import { traceTick } from './trace-tick.ts'

/** Refusals that are retried; all others are outcomes. */
const RETRIED_FAULTS = new Set(['unavailable', 'rate_limited'])

export const isRetried = (kind: string): boolean => RETRIED_FAULTS.has(kind)

export interface StartableTick {
  firing: ticks.Firing
  workflow: Workflow
}

interface Submitted {
  /** Outcomes that executions has answered. */
  answered: ticks.Outcome[]
  /** Ticks whose input the workflow does not accept. */
  refused: ticks.Outcome[]
}

interface LimitedTick extends StartableTick {
  /** Time on the database's clock after which executions does not create it. */
  not_after: Date
}

/**
 * Submits firings whose schedule is still active and still runs as the account that was checked, and
 * whose lease is still this replica's. The others are leased again with the current account.
 */
export async function submitTicks(deps: SchedulerDeps, chunk: StartableTick[]): Promise<Submitted> {
  const { db, executions, serviceIdentity, log } = deps
  const inputs = await schedules.readActiveInputs(
    db,
    chunk.map(({ firing }) => firing.schedule_id),
  )
  const ready = chunk.filter(
    ({ firing }) =>
      isOfAccount(inputs.get(firing.schedule_id), firing) &&
      performance.now() < firing.submit_before_ms,
  )
  const inputOf = ({ firing }: StartableTick) => inputs.get(firing.schedule_id)?.input ?? 'null'
  const refused: ticks.Outcome[] = []
  const valid = ready.filter((item) => {
    const problem = findInputProblem(deps, item.workflow, inputOf(item))
    if (problem !== undefined) refused.push(failedOutcome(item.firing, problem))
    return problem === undefined
  })
  const startable = await withTimeLimit(deps, valid)
  if (startable.length === 0) return { answered: [], refused }
  const traces = startable.map(({ firing }) => traceTick(firing))
  const commands = startable.map((item, i) => ({
    ...toCreateCommand(item, inputOf(item), serviceIdentity),
    traceparent: traces[i]?.traceparent,
  }))
  try {
    const { results } = await executions.submit({ commands }, { timeoutMs: SUBMIT_MS })
    for (const [i, trace] of traces.entries()) trace.end(results[i])
    const answered = startable.flatMap((item, i) => toOutcomes(item, results[i]))
    return { answered, refused }
  } catch (error) {
    for (const trace of traces) trace.end(undefined, error)
    log.warn({ err: error, commands: commands.length }, 'failed to start scheduled executions')
    return { answered: [], refused }
  }
}

/**
 * Returns the firings with the time limit of their creates, which is stored before they are sent. That of a first
 * attempt was stored with the tick.
 */
async function withTimeLimit(
  { db }: SchedulerDeps,
  items: StartableTick[],
): Promise<LimitedTick[]> {
  const retried = items.map(({ firing }) => firing).filter(({ attempts }) => attempts > 0)
  const stored = retried.length > 0 ? await ticks.recordSubmissions(db, retried, LEASE_MS) : []
  const limits = new Map(stored.map(({ execution_id, not_after }) => [execution_id, not_after]))
  return items.flatMap((item) => {
    const { attempts, execution_id, not_after: first } = item.firing
    const not_after = attempts === 0 ? first : limits.get(execution_id)
    return not_after ? [{ ...item, not_after }] : []
  })
}

const isOfAccount = (input: schedules.ActiveInput | undefined, firing: ticks.Firing) =>
  input?.run_as === firing.run_as && input.run_as_issuer === firing.run_as_issuer

function toCreateCommand(
  { firing, workflow, not_after }: LimitedTick,
  input_json: string,
  serviceIdentity: SchedulerDeps['serviceIdentity'],
): Command {
  const { run_as: subject, run_as_issuer: issuer } = firing
  const create = {
    workflow_id: workflow.id,
    workflow_namespace: workflow.namespace,
    workflow_name: workflow.name,
    workflow_version: workflow.version,
    input_json,
    requirement: workflow.requirement,
    preferred_worker: '',
    caller: serviceIdentity.signCaller(
      subject === '' ? ANONYMOUS_CALLER : { subject, issuer },
      'executions',
      ExecutionsService.submit.path,
    ),
    schedule_id: firing.schedule_id,
    request_hash: '',
    reply_to: '',
    depth: 0,
    parent_id: '',
    cancel_with_parent: false,
    tags: declaredTags(workflow),
    priority: declaredPriority(workflow),
    not_after,
  }
  const { execution_id } = firing
  return { execution_id, with_log: false, body: { $case: 'create', value: create } }
}

function toOutcomes({ firing }: StartableTick, result: Result | undefined): ticks.Outcome[] {
  if (result?.body?.$case === 'execution') return [startedOutcome(firing, result.body.value)]
  const refusal = result?.body?.value
  if (!refusal || isRetried(refusal.kind)) return []
  return [failedOutcome(firing, refusal.message)]
}
