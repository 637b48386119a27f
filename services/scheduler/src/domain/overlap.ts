import type { OverlapPolicy } from '@windlass/domain/overlap'

/** Maximum number of queued ticks of one schedule. */
export const MAX_QUEUED = 100

/** An earlier tick of the same schedule whose execution has not ended. */
export interface UnfinishedTick {
  nominal_at: Date
  status: 'pending' | 'queued' | 'started'
  execution_id: string
  state: string | undefined
  /** True if an attempt without a known outcome may have started a queued tick. */
  may_have_started?: boolean
}

export type OverlapDecision =
  | { action: 'start' }
  | { action: 'skip'; reason: string }
  /** Wait for the earlier ticks; cancel these executions and skip these queued ticks. */
  | { action: 'wait'; cancel: UnfinishedTick[]; replace: UnfinishedTick[] }

/** Decides a tick from the unfinished ticks before it, oldest first. */
export function decideOverlap(
  overlap: OverlapPolicy,
  open: readonly UnfinishedTick[],
): OverlapDecision {
  const [first] = open
  if (overlap === 'allow' || !first) return { action: 'start' }
  if (overlap === 'skip') return { action: 'skip', reason: stillRuns(first) }
  const waiting = open.filter(({ status }) => status === 'queued')
  if (overlap === 'cancel_previous') {
    const running = open.filter(({ status }) => status === 'started')
    const replaced = waiting.filter(({ may_have_started }) => !may_have_started)
    return { action: 'wait', cancel: running, replace: replaced }
  }
  if (waiting.length >= MAX_QUEUED)
    return { action: 'skip', reason: `overlap: ${MAX_QUEUED} ticks are queued already` }
  return { action: 'wait', cancel: [], replace: [] }
}

export const REPLACED = 'overlap: replaced by a later tick'

const stillRuns = ({ nominal_at, execution_id, state }: UnfinishedTick) =>
  `overlap: the execution ${execution_id} of ${nominal_at.toISOString()} is still ${state ?? 'being started'}`
