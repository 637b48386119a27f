import { ANONYMOUS_CALLER } from '@windlass/domain/caller'
import type { FindLatest } from '@windlass/domain/permissions'
import { declaredPriority } from '@windlass/domain/permissions'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import {
  type Command,
  ExecutionsService,
  type Result,
} from '@windlass/proto/windlass/executions/v1/executions'
import { chunkBySize } from '@windlass/runtime/chunk-by-size'
import { Fault } from '@windlass/runtime/faults'
import { undefinedIfNotFound } from '@windlass/runtime/undefined-if-not-found'
import { retryDelayMs } from '../domain/retry.ts'
import * as schedules from '../store/schedules.ts'
import * as ticks from '../store/ticks.ts'
import { type AccountStatus, accountKey, describeRefusal, lookUpAccount } from './account-status.ts'
import { findInputProblem } from './check-inputs.ts'
import type { SchedulerDeps } from './deps.ts'
import { SUBMIT_MS } from './lease.ts'
import { applyOverlapPolicy } from './overlap-policy.ts'
import { failedOutcome, skippedOutcome, startedOutcome } from './tick-outcomes.ts'
import { traceTick } from './trace-tick.ts'

const RESOLVE_MS = 2_000
const CALLS_AT_ONCE = 16
const MAX_COMMANDS = 100
const MAX_INPUT_BYTES = 8 * 1_048_576
/** Refusals that are retried; all others are outcomes. */
const RETRIED_FAULTS = new Set(['unavailable', 'rate_limited'])

/**
 * Starts an execution for each firing and stores the outcomes. A firing without an answer is retried
 * later; its execution id is derived from the tick, so a repetition cannot start a second execution.
 */
export async function startExecutions(deps: SchedulerDeps, firings: ticks.Firing[]): Promise<void> {
  if (firings.length === 0) return
  const outcomes: ticks.Outcome[] = []
  const allowed = await selectAllowed(deps, firings, outcomes)
  const postponed = await applyOverlapPolicy(
    deps,
    allowed.map(({ firing }) => firing),
  ).catch((error: unknown) => {
    deps.log.warn({ err: error }, 'failed to look up earlier executions')
    return undefined
  })
  outcomes.push(...(postponed ?? []))
  const waiting = new Set(postponed?.map(({ firing }) => firing))
  const ready = allowed.filter(
    ({ firing }) => firing.overlap === 'allow' || (postponed && !waiting.has(firing)),
  )
  // A failed batch may have failed because of a single firing, so retried firings are sent one by one.
  const sizeOf = ({ firing }: StartableTick) =>
    firing.attempts > 0 ? MAX_INPUT_BYTES : firing.input_bytes
  const limits = { sizeOf, maxSize: MAX_INPUT_BYTES, maxItems: MAX_COMMANDS }
  for (const chunk of chunkBySize(ready, limits)) outcomes.push(...(await submit(deps, chunk)))

  const settled = new Set(outcomes.map(({ firing }) => firing))
  const open = firings.filter((firing) => !settled.has(firing))
  if (outcomes.length > 0) await deps.db.tx((tx) => ticks.acknowledge(tx, outcomes))
  if (open.length > 0)
    await ticks.postpone(
      deps.db,
      open,
      open.map((f) => retryDelayMs(f.attempts)),
    )
}

interface StartableTick {
  firing: ticks.Firing
  workflow: Workflow
}

/**
 * Selects firings whose workflow exists and whose account may run it now; appends outcomes of the
 * refused ones.
 */
async function selectAllowed(
  deps: SchedulerDeps,
  firings: ticks.Firing[],
  outcomes: ticks.Outcome[],
): Promise<StartableTick[]> {
  const [workflows, accounts] = await Promise.all([
    lookUpDistinct(firings, workflowKey, (firing) => resolveLatest(deps, firing)),
    lookUpDistinct(firings, accountKey, (firing) => lookUpAccount(deps, firing)),
  ])
  const refusals = new Map<string, Promise<string | undefined>>()
  const allowed: StartableTick[] = []
  for (const firing of firings) {
    const workflow = workflows.get(workflowKey(firing))
    if (workflow instanceof Fault) outcomes.push(failedOutcome(firing, workflow.message))
    if (!workflow || workflow instanceof Fault) continue
    const key = `${accountKey(firing)} ${workflowKey(firing)}`
    const refusal = refusals.get(key) ?? findRefusal(deps, { firing, workflow }, accounts)
    refusals.set(key, refusal)
    try {
      const reason = await refusal
      if (reason === undefined) allowed.push({ firing, workflow })
      else outcomes.push(skippedOutcome(firing, reason))
    } catch (error) {
      deps.log.warn({ err: error, workflow: workflowKey(firing) }, 'failed to check permissions')
    }
  }
  return allowed
}

/**
 * Returns the reason why the account may not run the workflow, or undefined. Throws if that cannot
 * be determined.
 */
async function findRefusal(
  { principals, catalog }: SchedulerDeps,
  { firing, workflow }: StartableTick,
  accounts: Map<string, AccountStatus>,
): Promise<string | undefined> {
  if (!principals) return undefined
  const account = accounts.get(accountKey(firing))
  if (account instanceof Fault) throw account
  const latest: FindLatest = (namespace, name) =>
    catalog
      .resolve({ namespace, name, version: 0 }, { timeoutMs: RESOLVE_MS })
      .catch(undefinedIfNotFound)
  return describeRefusal(firing, account, { workflow, latest })
}

/** Looks up each distinct key once, with at most CALLS_AT_ONCE concurrent calls. */
async function lookUpDistinct<T>(
  firings: ticks.Firing[],
  keyOf: (firing: ticks.Firing) => string,
  lookUp: (firing: ticks.Firing) => Promise<T>,
): Promise<Map<string, T>> {
  const wanted = [...new Map(firings.map((firing) => [keyOf(firing), firing])).entries()]
  const answers = new Map<string, T>()
  const next = async () => {
    for (let item = wanted.pop(); item; item = wanted.pop())
      answers.set(item[0], await lookUp(item[1]))
  }
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, next))
  return answers
}

const workflowKey = (firing: ticks.Firing) => `${firing.workflow_namespace}/${firing.workflow_name}`

/** Returns the latest version, the fault that is an outcome, or undefined if the catalog is unavailable. */
async function resolveLatest({ catalog, log }: SchedulerDeps, firing: ticks.Firing) {
  const { workflow_namespace: namespace, workflow_name: name } = firing
  try {
    return await catalog.resolve({ namespace, name, version: 0 }, { timeoutMs: RESOLVE_MS })
  } catch (error) {
    if (error instanceof Fault && !RETRIED_FAULTS.has(error.kind)) return error
    log.warn({ err: error, workflow: workflowKey(firing) }, 'failed to resolve scheduled workflow')
    return undefined
  }
}

/**
 * Submits firings whose schedule is still active and still runs as the account that was checked, and
 * whose lease is still this replica's. The others are leased again with the current account.
 */
async function submit(deps: SchedulerDeps, chunk: StartableTick[]): Promise<ticks.Outcome[]> {
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
  const startable = ready.filter((item) => {
    const problem = findInputProblem(deps, item.workflow, inputOf(item))
    if (problem !== undefined) refused.push(failedOutcome(item.firing, problem))
    return problem === undefined
  })
  if (startable.length === 0) return refused
  const traces = startable.map(({ firing }) => traceTick(firing))
  const commands = startable.map((item, i) => ({
    ...toCreateCommand(item, inputOf(item), serviceIdentity),
    traceparent: traces[i]?.traceparent,
  }))
  try {
    const { results } = await executions.submit({ commands }, { timeoutMs: SUBMIT_MS })
    for (const [i, trace] of traces.entries()) trace.end(results[i])
    return [...refused, ...startable.flatMap((item, i) => toOutcomes(item, results[i]))]
  } catch (error) {
    for (const trace of traces) trace.end(undefined, error)
    log.warn({ err: error, commands: commands.length }, 'failed to start scheduled executions')
    return refused
  }
}

const isOfAccount = (input: schedules.ActiveInput | undefined, firing: ticks.Firing) =>
  input?.run_as === firing.run_as && input.run_as_issuer === firing.run_as_issuer

function toCreateCommand(
  { firing, workflow }: StartableTick,
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
    tags: {},
    priority: declaredPriority(workflow),
  }
  const { execution_id } = firing
  return { execution_id, with_log: false, body: { $case: 'create', value: create } }
}

function toOutcomes({ firing }: StartableTick, result: Result | undefined): ticks.Outcome[] {
  if (result?.body?.$case === 'execution') return [startedOutcome(firing, result.body.value)]
  const refusal = result?.body?.value
  if (!refusal || RETRIED_FAULTS.has(refusal.kind)) return []
  return [failedOutcome(firing, refusal.message)]
}
