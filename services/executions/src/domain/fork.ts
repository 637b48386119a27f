/**
 * The entries with which a fork of an execution begins.
 *
 * A fork is a new execution whose log begins with entries of its origin: with the outcomes of calls up to a
 * given entry. A worker that replays it returns these outcomes and runs everything else. So that this holds
 * for any origin, some entries up to that place are left out:
 *
 * - Entries about workers and the start (WORKFLOW_SCHEDULED, …_CLAIMED, WORKFLOW_STARTED): the fork has its
 *   own. A `timeout` of the workflow counts from the start of the fork.
 * - The start of calls without an outcome: `total_timeout` and `sleep` count from it, and it may be days ago.
 *   Failed attempts are kept: the next one follows.
 * - Approvals: a person approved a call of the origin. The fork asks again.
 * - The end and a cancel of the origin.
 *
 * Pauses and their resumes are kept: the body of a resume is the outcome of a call.
 */
export interface OutlineEntry {
  seq: number
  type: string
  source_id: string
  name: string
}

export interface ForkPlan {
  /** Entries of the origin's log that the fork begins with, in their order. */
  seqs: number[]
  /** TASK_COMPLETED among them: progress, as the row counts it. */
  completions: number
  /** Calls whose outcome is among them. */
  calls: number
  /** Calls of the origin that have none there, in the order of the log. */
  runs_again: { call_id: string; name: string; seq: number }[]
}

const KEPT_WORKFLOW_EVENTS = new Set(['WORKFLOW_PAUSED', 'WORKFLOW_RESUMING', 'WORKFLOW_RESUMED'])
const APPROVAL_EVENTS = new Set(['TASK_AWAITING_APPROVAL', 'TASK_APPROVED', 'TASK_REJECTED'])
/** A call with one of these does not run again. */
const OUTCOMES = new Set([
  'TASK_COMPLETED',
  'TASK_FAILED',
  'TASK_FALLBACK_FAILED',
  'TASK_RETRY_COMPLETED',
  'TASK_FALLBACK_COMPLETED',
])

/** Plans a fork after the entry `after_seq` of a log, whose later entries tell which calls run again. */
export function planFork(outline: readonly OutlineEntry[], after_seq: number): ForkPlan {
  const isBefore = ({ seq }: OutlineEntry) => seq <= after_seq
  const settled = new Set(
    outline
      .filter((entry) => isBefore(entry) && OUTCOMES.has(entry.type))
      .map(({ source_id }) => source_id),
  )
  const kept = outline.filter((entry) => isBefore(entry) && isKept(entry, settled))
  const open = new Map<string, ForkPlan['runs_again'][number]>()
  for (const { seq, type, source_id, name } of outline)
    if (isOfCall(type) && !settled.has(source_id) && !open.has(source_id))
      open.set(source_id, { call_id: source_id, name, seq })
  return {
    seqs: kept.map(({ seq }) => seq),
    completions: kept.filter(({ type }) => type === 'TASK_COMPLETED').length,
    calls: settled.size,
    runs_again: [...open.values()],
  }
}

const isOfCall = (type: string) => type.startsWith('TASK_') && !APPROVAL_EVENTS.has(type)

function isKept({ type, source_id }: OutlineEntry, settled: ReadonlySet<string>): boolean {
  if (!isOfCall(type)) return KEPT_WORKFLOW_EVENTS.has(type)
  return settled.has(source_id) || !type.endsWith('_STARTED')
}
