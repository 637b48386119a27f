import type { Firing, Outcome } from '../store/ticks.ts'
import type { SchedulerDeps } from './deps.ts'
import { findExecutions } from './find-executions.ts'
import { CREATE_MS } from './lease.ts'
import { startedOutcome } from './tick-outcomes.ts'

type Retried = Pick<Firing, 'schedule_id' | 'nominal_at' | 'execution_id' | 'open_ms'>

/** True while an earlier attempt without an answer may still create the execution of a tick. */
export const mayStillStart = ({ open_ms }: Pick<Firing, 'open_ms'>): boolean =>
  open_ms !== undefined && open_ms > -CREATE_MS

/**
 * Returns the outcomes of retried ticks that can be recorded. A tick is recorded as failed or skipped only when no
 * earlier attempt can create its execution any more, and none has: an attempt whose answer was lost may have. The
 * others stay open.
 */
export async function confirmUnstarted(
  { executions, log }: Pick<SchedulerDeps, 'executions' | 'log'>,
  outcomes: readonly (Outcome & { firing: Retried })[],
): Promise<Outcome[]> {
  const known = outcomes.filter(({ firing }) => !mayStillStart(firing))
  if (known.length === 0) return []
  try {
    const found = await findExecutions(
      executions,
      known.map(({ firing }) => firing.execution_id),
    )
    return known.map((outcome) => {
      const execution = found.get(outcome.firing.execution_id)
      return execution ? startedOutcome(outcome.firing, execution) : outcome
    })
  } catch (error) {
    log.warn({ err: error, ticks: known.length }, 'failed to look up scheduled executions')
    return []
  }
}
