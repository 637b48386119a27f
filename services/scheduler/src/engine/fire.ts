/*
 * Ticks: every scheduled time starts exactly one execution, or is recorded as skipped with a reason.
 *
 * Problem. Several replicas serve the same schedules, and each can die or be suspended between any two
 * statements. A tick must not start twice, must not be lost, and must not start after its schedule was
 * paused or deleted. An outage must end in one catch-up run and not in a burst of outdated ones.
 *
 * Terms. A tick is one scheduled time of one schedule; its nominal time identifies it, however late it
 * starts. A firing is a tick that an execution must be started for.
 *
 *      schedules row                       schedule_ticks row                     executions
 *      next_run_at <= now()                (schedule_id, nominal_at)
 *           |
 *      1 fire: lock the row, skip locked
 *           |---- insert ----------------> pending, retry_at = submit_until = now() + 12 s
 *           |     next_run_at = next tick,
 *           |     pending = true                 one commit
 *           |
 *      2 start: workflow, account, overlap policy
 *           |---- Submit(create, id = hash(schedule, nominal time), until) ------> created, or
 *           |<------------------------------------------------------------------- the existing one
 *      3 acknowledge                       started | failed | skipped | queued
 *           |     pending = false          retry_at only for queued
 *           v
 *      the schedule can fire again
 *
 *      a replica dies between 1 and 3: retry_at passes, any replica leases the tick and repeats 2
 *
 * Exactly one start. Two rules that hold without any lease:
 * - The primary key (schedule_id, nominal_at) admits one row for each tick, and the row is inserted by
 *   the transaction that advances the schedule. So a tick is taken once or not at all.
 * - The execution id is the first 128 bits of SHA-256 of `<schedule_id>|<nominal time>`, and executions
 *   answers a repeated create with the existing execution. So a start may be repeated after a lost
 *   reply, also by a replica that does not know of the first attempt.
 *
 * Leases. A firing belongs to the replica that took it for LEASE_MS of the database's clock. They avoid
 * repeated work, and they stop a suspended process: right before it submits, it compares its own
 * monotonic clock with a deadline of LEASE_MS - SUBMIT_MS and requires that the schedule is still
 * active. Otherwise it could start a tick that another replica has skipped because of a pause.
 *
 * Late creates. A create may also wait after this check: in this process, in the network, or in the socket of a replica
 * of executions that is stopped. So each create carries the end of its lease (`submit_until`), and executions refuses
 * it later, by the database's clock, in the statement that inserts the row. A tick that an attempt without an answer
 * may have started is recorded as skipped or failed only CREATE_MS after that time, when executions does not know its
 * execution (engine/confirm-unstarted.ts). The time is stored before the call, under the lock of the schedule.
 *
 * Clocks. Only the database's clock decides what is due; all times are stored in UTC. Timers of this
 * process only bound the delay (loops/tick.ts). If the database's clock is set back, no tick repeats:
 * `next_run_at` has advanced. A change or a resume then sets it back too; the primary key still admits no second
 * row, and a tick that has one is passed over.
 *
 * Misfires. After an outage the newest due tick fires if it is inside the catch-up window (1 h), and
 * all earlier ones become one history entry (`missed: ...`). `planMisfires` takes constant time: it
 * computes the newest tick backwards from now, so 10^6 misfired ticks cost as much as one. A schedule
 * has at most one firing without an outcome (`pending`), so an outage of a dependency ends in one
 * catch-up run for each schedule. A firing is retried after 1 s to 30 s until the window ends. A minute
 * later, when no create of an attempt can take effect, executions is asked once more and the tick is
 * recorded as skipped if it was never started.
 *
 * Recurrence. Intervals are multiples from an anchor, never "now + interval", so they do not drift. Cron
 * follows the local time of a zone: fixed times fire once right after a daylight-saving gap and once
 * in a fold, wildcards follow elapsed time (docs/schedules.md). Only the next tick is stored; it is
 * computed when the tick before it is taken.
 *
 * Not guaranteed. Start delays grow under load, and by up to a second if the replica that stored a
 * schedule stops: the others find it by polling. A pause takes effect when it is answered; an
 * execution of a tick that was due before may already be starting.
 *
 * Measurements (bench/README.md, "Schedules"; three replicas, 1,000 ticks due in one second, ten bursts,
 * two cores shared with a second system): start delay p50 307 ms, p99 882 ms; 0.41 ms of CPU for each
 * tick in all services and stores. With 100,000 stored schedules in place of 1,000: p99 887 ms and 91
 * pages for each tick in place of 80. On an idle machine p99 was 327 ms.
 *
 * Rejected.
 * - A leader that fires all ticks: ticks stop during its failover, and a leader that was suspended needs
 *   the same two rules. Row locks with `skip locked` let all replicas share the work.
 * - A timer for each schedule: lost with the process, and limited to 2^31 ms.
 * - A row for each future tick: every change of a schedule would rewrite them.
 * - Firing every misfired tick: their executions compete with the current ones for the workers.
 */
import { createHash } from 'node:crypto'
import { type MisfirePlan, planMisfires } from '../domain/misfires.ts'
import { scheduleLag, scheduleTicks } from '../metrics.ts'
import * as due from '../store/due.ts'
import * as ticks from '../store/ticks.ts'
import type { SchedulerDeps } from './deps.ts'
import { LEASE_MS, submitDeadlineMs } from './lease.ts'
import { toAnchoredRecurrence } from './read-recurrence.ts'

const BATCH = 200

/**
 * Takes due schedules: inserts the tick of each and advances it to its next tick in one transaction.
 * Returns the firings, which the caller starts after the commit; if this process dies first, any
 * replica starts them when their lease expires.
 */
export async function fire({ db, catchupMs }: SchedulerDeps): Promise<ticks.Firing[]> {
  const { firings, skipped, now } = await db.tx(async (tx) => {
    const submit_before_ms = submitDeadlineMs()
    const taken = await due.lockDue(tx, BATCH)
    const firings: ticks.Firing[] = []
    const skipped: ticks.SkippedRange[] = []
    const now = taken[0]?.now
    if (!now) return { firings, skipped, now }
    const next = new Map<string, Date | undefined>()
    for (const schedule of taken) {
      const { schedule_id } = schedule
      const { reason, ...plan } = planDue(schedule, catchupMs)
      if (plan.fire) firings.push(toFiring(schedule, plan.fire, submit_before_ms))
      if (plan.skipped) skipped.push({ schedule_id, ...plan.skipped, reason })
      next.set(schedule_id, plan.next)
    }
    const [fired, recorded] = await Promise.all([
      ticks.insertFirings(tx, firings, LEASE_MS),
      ticks.insertSkipped(tx, skipped),
    ])
    const isFired = setOf(fired)
    const notAfter = new Map(fired.map((row) => [row.schedule_id, row.not_after]))
    const isRecorded = setOf(recorded)
    const moves = [...next].map(([schedule_id, next_run_at]) => ({
      schedule_id,
      next_run_at,
      is_pending: isFired.has(schedule_id),
      new_ticks: Number(isFired.has(schedule_id)) + Number(isRecorded.has(schedule_id)),
    }))
    await due.advance(tx, moves)
    const leased = firings
      .filter(({ schedule_id }) => isFired.has(schedule_id))
      .map((firing) => ({ ...firing, not_after: notAfter.get(firing.schedule_id) }))
    return { firings: leased, skipped, now }
  })
  measure(firings, skipped, now)
  return firings
}

const setOf = (rows: readonly { schedule_id: string }[]) =>
  new Set(rows.map(({ schedule_id }) => schedule_id))

function measure(firings: ticks.Firing[], skipped: ticks.SkippedRange[], now?: Date): void {
  for (const { nominal_at } of firings)
    scheduleLag.record(Math.max(0, ((now ?? nominal_at).getTime() - nominal_at.getTime()) / 1_000))
  if (firings.length > 0) scheduleTicks.add(firings.length, { outcome: 'fired' })
  if (skipped.length > 0) scheduleTicks.add(skipped.length, { outcome: 'skipped' })
}

const MISSED = 'missed: no scheduler was running to fire it in time'
const DELAYED = 'missed: the tick before it had not been started yet'

/**
 * Plans the due tick of a schedule. An invalid configuration is recorded and must not block other
 * schedules.
 */
function planDue(schedule: due.DueSchedule, catchupMs: number): MisfirePlan & { reason: string } {
  const { next_run_at: first, now } = schedule
  const wasDelayed = schedule.released_at && schedule.released_at > first
  try {
    return {
      ...planMisfires(toAnchoredRecurrence(schedule), first, now, catchupMs),
      reason: wasDelayed ? DELAYED : MISSED,
    }
  } catch (error) {
    const reason = `the configuration cannot be read: ${(error as Error).message}`
    return { fire: undefined, skipped: { first, last: first }, next: undefined, reason }
  }
}

function toFiring(
  schedule: due.DueSchedule,
  nominal_at: Date,
  submit_before_ms: number,
): ticks.Firing {
  const execution_id = deriveExecutionId(schedule.schedule_id, nominal_at)
  return { ...schedule, nominal_at, execution_id, attempts: 0, is_queued: false, submit_before_ms }
}

/** Execution id of a tick. Every replica derives the same id, so repeated starts have one result. */
export const deriveExecutionId = (schedule_id: string, nominal_at: Date): string =>
  createHash('sha256')
    .update(`${schedule_id}|${nominal_at.toISOString()}`)
    .digest('hex')
    .slice(0, 32)
