import type { FindLatest } from '@windlass/domain/permissions'
import { chunkBySize } from '@windlass/runtime/chunk-by-size'
import { Fault } from '@windlass/runtime/faults'
import { undefinedIfNotFound } from '@windlass/runtime/undefined-if-not-found'
import { retryDelayMs } from '../domain/retry.ts'
import * as ticks from '../store/ticks.ts'
import { type AccountStatus, accountKey, describeRefusal, lookUpAccount } from './account-status.ts'
import { confirmUnstarted } from './confirm-unstarted.ts'
import type { SchedulerDeps } from './deps.ts'
import { applyOverlapPolicy } from './overlap-policy.ts'
import { isRetried, type StartableTick, submitTicks } from './submit-ticks.ts'
import { failedOutcome, skippedOutcome } from './tick-outcomes.ts'

const RESOLVE_MS = 2_000
const CALLS_AT_ONCE = 16
const MAX_COMMANDS = 100
const MAX_INPUT_BYTES = 8 * 1_048_576

/**
 * Starts an execution for each firing and stores the outcomes. A firing without an answer is retried
 * later; its execution id is derived from the tick, so a repetition cannot start a second execution.
 */
export async function startExecutions(deps: SchedulerDeps, firings: ticks.Firing[]): Promise<void> {
  if (firings.length === 0) return
  const decided: ticks.Outcome[] = []
  const allowed = await selectAllowed(deps, firings, decided)
  const postponed = await applyOverlapPolicy(
    deps,
    allowed.map(({ firing }) => firing),
  ).catch((error: unknown) => {
    deps.log.warn({ err: error }, 'failed to look up earlier executions')
    return undefined
  })
  decided.push(...(postponed ?? []))
  const waiting = new Set(postponed?.map(({ firing }) => firing))
  const ready = allowed.filter(
    ({ firing }) => firing.overlap === 'allow' || (postponed && !waiting.has(firing)),
  )
  // A failed batch may have failed because of a single firing, so retried firings are sent one by one.
  const sizeOf = ({ firing }: StartableTick) =>
    firing.attempts > 0 ? MAX_INPUT_BYTES : firing.input_bytes
  const limits = { sizeOf, maxSize: MAX_INPUT_BYTES, maxItems: MAX_COMMANDS }
  const answered: ticks.Outcome[] = []
  for (const chunk of chunkBySize(ready, limits)) {
    const results = await submitTicks(deps, chunk)
    answered.push(...results.answered)
    decided.push(...results.refused)
  }
  const outcomes = [...(await confirm(deps, firings, decided)), ...answered]

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

/**
 * Returns the outcomes that can be recorded. Those that this attempt decided without executions need a confirmation if
 * an earlier attempt may have started the tick.
 */
async function confirm(
  deps: SchedulerDeps,
  firings: readonly ticks.Firing[],
  decided: readonly ticks.Outcome[],
): Promise<ticks.Outcome[]> {
  const retried = new Set<unknown>(firings.filter(({ attempts }) => attempts > 0))
  const isUnsure = (one: ticks.Outcome): one is ticks.Outcome & { firing: ticks.Firing } =>
    one.status !== 'queued' && retried.has(one.firing)
  const unsure = decided.filter(isUnsure)
  return [...decided.filter((one) => !isUnsure(one)), ...(await confirmUnstarted(deps, unsure))]
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
    if (error instanceof Fault && !isRetried(error.kind)) return error
    log.warn({ err: error, workflow: workflowKey(firing) }, 'failed to resolve scheduled workflow')
    return undefined
  }
}
