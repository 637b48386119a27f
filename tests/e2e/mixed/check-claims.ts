import type { FinalExecution, LogEntry, Run } from './history.ts'
import { type CallOf, callsOf, groupBy } from './run-queries.ts'

const LEASES = ['WORKFLOW_SCHEDULED', 'WORKFLOW_RESUME_SCHEDULED']
const CLAIMS = ['WORKFLOW_CLAIMED', 'WORKFLOW_RESUME_CLAIMED']
const STEPS = ['TASK_STARTED', 'TASK_COMPLETED']

/**
 * A worker that had an execution under a generation, known from its frame, from the answer to its claim, or from an
 * accepted checkpoint. The first of these is the claim if the worker claims by delivery.
 */
interface Holder {
  id: string
  worker: string
  generation: number
  /** Earliest time at which the server may have given or accepted it. */
  sent: number
  /** From this time on it was certain. */
  received: number
  isClaim: boolean
}

/** Lists the violations of claims: by a request, and by the first checkpoint under the generation of a frame. */
export function* claimViolations(run: Run): Generator<string> {
  const holders = holdersOf(run)
  yield* owners(run, holders)
  yield* reports(run, holders)
  yield* attempts(run)
  for (const one of run.ended.values()) yield* logOrder(one, run)
}

function holdersOf(run: Run): Holder[] {
  const asked = callsOf(run, 'claim').flatMap(({ status, result, ...call }): Holder[] =>
    status === 200 ? [{ ...call, generation: result.generation ?? 0, isClaim: true }] : [],
  )
  const reported = [...reportsOf(run).values()].flatMap((calls): Holder[] => {
    const accepted = calls.find(({ status }) => status === 200)
    // An earlier call without an answer may have been the one that was accepted.
    return accepted ? [{ ...accepted, sent: calls[0]?.sent ?? 0, isClaim: true }] : []
  })
  const sent = run.frames.map((frame) => ({ ...frame, sent: frame.received, isClaim: false }))
  return [...asked, ...reported, ...sent]
}

/** The calls of each checkpoint, which its worker repeats until it is answered. */
const reportsOf = (run: Run): Map<string, CallOf<'report'>[]> =>
  groupBy(callsOf(run, 'report'), ({ id, worker, generation, events }) =>
    [id, worker, generation, events].join(' '),
  )

function* owners(run: Run, holders: readonly Holder[]): Generator<string> {
  const workers = new Map<string, string>()
  const ends = callsOf(run, 'cancel').filter(({ result }) => result.state === 'CANCELLED')
  for (const { id, worker, generation, sent, isClaim } of holders) {
    const key = `${id} ${generation}`
    if ((workers.get(key) ?? worker) !== worker) yield `C1-two-owners: ${key}`
    workers.set(key, worker)
    const isAfterEnd = ends.some((end) => end.id === id && end.received < sent)
    if (isClaim && isAfterEnd) yield `E7-claim-after-end: ${id}`
  }
}

function* reports(run: Run, holders: readonly Holder[]): Generator<string> {
  const holdersById = groupBy(holders, ({ id }) => id)
  for (const calls of reportsOf(run).values()) {
    const [{ id, events, generation }] = calls as [CallOf<'report'>]
    const stored = run.ended.get(id)?.events.filter((event) => events.includes(event.id)) ?? []
    const accepted = calls.filter(({ status }) => status === 200)
    if (accepted.length > 0 && stored.length !== events.length) yield `V2-event-lost: ${id}`
    const isRefused = calls.every(({ status }) => status >= 400)
    if (isRefused && stored.length > 0) yield `V3-event-of-refused: ${id}`
    const later = holdersById.get(id)?.filter((holder) => holder.generation > generation) ?? []
    if (accepted.some(({ sent }) => later.some(({ received }) => received < sent)))
      yield `C2-superseded-write: ${id}`
  }
}

/** The events of a worker follow its own claim, or the cancel of its lease, and no later lease. */
function* logOrder({ id, events }: FinalExecution, run: Run): Generator<string> {
  const workers = new Map(
    callsOf(run, 'report').flatMap((call) => call.events.map((event) => [event, call.worker])),
  )
  let holder: string | undefined
  let leaseholder: string | undefined
  for (const { id: event, type, source_id } of events) {
    const worker = workers.get(event)
    if (worker && worker !== holder) yield `C1-unclaimed-write: ${id} ${type}`
    if (type === 'WORKFLOW_PAUSED') holder = leaseholder = undefined
    if (LEASES.includes(type)) {
      holder = undefined
      leaseholder = source_id
    }
    if (CLAIMS.includes(type)) holder = source_id
    if (type === 'WORKFLOW_CANCELLING') holder ??= leaseholder
  }
}

/**
 * An attempt is counted once: at the lease if its first checkpoint may be the claim, else at the claim. A lease whose
 * checkpoint was stored ends by the loss of its worker only, so it stays counted until a pause, and the next lease has
 * to be claimed.
 */
function* attempts(run: Run): Generator<string> {
  const logAt = (id: string, length = 0) => (run.ended.get(id)?.events ?? []).slice(0, length)
  for (const { id, isDelivered, events } of run.frames)
    if (isDelivered && attemptsIn(logAt(id, events)).least > 1) yield `D6-delivered-again: ${id}`
  for (const { id, status, result } of callsOf(run, 'claim')) {
    const { least, most } = attemptsIn(logAt(id, result.events))
    const { attempt = Number.NaN } = result
    if (status === 200 && !(attempt >= least && attempt <= most))
      yield `D6-attempts: ${id} ${attempt}, expected ${least} to ${most}`
  }
}

/** Bounds of the attempts up to the last lease of a log, including it. */
function attemptsIn(log: readonly LogEntry[]): { least: number; most: number } {
  const types = log.map(({ type }) => type)
  const sincePause = types.slice(types.lastIndexOf('WORKFLOW_PAUSED') + 1)
  const lastLease = sincePause.findLastIndex((type) => LEASES.includes(type))
  const isRepeated = sincePause.slice(0, lastLease).some((type) => STEPS.includes(type))
  const progress = sincePause.lastIndexOf('TASK_COMPLETED')
  const leases = sincePause.slice(progress + 1).filter((type) => LEASES.includes(type)).length
  const isReset = progress > lastLease
  return { least: isRepeated && !isReset ? 2 : 1, most: leases + (progress < 0 ? 0 : 1) }
}
