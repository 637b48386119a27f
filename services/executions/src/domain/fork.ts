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
 * - Approvals: a person approved a call of one execution, with its input. A fork may have another input, and
 *   there may be many of them. So a call that was approved runs again and asks again, and so does every
 *   call that began after its approval: what the approval released is released once.
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
  /** Number of TASK_COMPLETED among them: the progress that the row counts. */
  completions: number
  /** Calls whose outcome is among them. */
  calls: number
  /** Calls of the origin whose outcome is not among them, in log order. */
  runs_again: { call_id: string; name: string; seq: number }[]
}

const KEPT_WORKFLOW_EVENTS = new Set(['WORKFLOW_PAUSED', 'WORKFLOW_RESUMING', 'WORKFLOW_RESUMED'])
const APPROVAL_EVENTS = new Set(['TASK_AWAITING_APPROVAL', 'TASK_APPROVED', 'TASK_REJECTED'])
/** A call with one of these entries does not run again. */
const OUTCOMES = new Set([
  'TASK_COMPLETED',
  'TASK_FAILED',
  'TASK_FALLBACK_FAILED',
  'TASK_RETRY_COMPLETED',
  'TASK_FALLBACK_COMPLETED',
])

/** Plans a fork after the entry `after_seq` of a log; the later entries show which calls run again. */
export function planFork(outline: readonly OutlineEntry[], after_seq: number): ForkPlan {
  const before = outline.filter(({ seq }) => seq <= after_seq)
  const released = releasedByApproval(before)
  const settled = new Set(
    before
      .filter(({ type, source_id }) => OUTCOMES.has(type) && !released.calls.has(source_id))
      .map(({ source_id }) => source_id),
  )
  const kept = before.filter((entry) => !isReleased(entry, released) && isKept(entry, settled))
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

interface Released {
  /** Calls that were approved, and calls that began after the first approval. */
  calls: ReadonlySet<string>
  /** Place of the first request for an approval that was then given. */
  from: number
}

function releasedByApproval(before: readonly OutlineEntry[]): Released {
  const approvals = before.filter(({ type }) => type === 'TASK_APPROVED')
  const [first] = approvals
  if (!first) return { calls: new Set(), from: Number.POSITIVE_INFINITY }
  const gates = new Set(approvals.map(({ source_id }) => source_id))
  const begun = new Set<string>()
  const calls = new Set([...gates].map(callOfGate))
  for (const { seq, type, source_id } of before) {
    if (!isOfCall(type)) continue
    if (seq < first.seq) begun.add(source_id)
    else if (!begun.has(source_id)) calls.add(source_id)
  }
  const request = before.find(
    ({ type, source_id }) => type === 'TASK_AWAITING_APPROVAL' && gates.has(source_id),
  )
  return { calls, from: Math.min(first.seq, request?.seq ?? first.seq) }
}

/** Each retry of a call has an approval of its own, under the id of the call and the number of the retry. */
const callOfGate = (source_id: string) => source_id.replace(/~retry\d+$/, '')

const isReleased = ({ seq, type, source_id }: OutlineEntry, { calls, from }: Released): boolean =>
  isOfCall(type) ? calls.has(source_id) : seq >= from

const isOfCall = (type: string) => type.startsWith('TASK_') && !APPROVAL_EVENTS.has(type)

function isKept({ type, source_id }: OutlineEntry, settled: ReadonlySet<string>): boolean {
  if (!isOfCall(type)) return KEPT_WORKFLOW_EVENTS.has(type)
  return settled.has(source_id) || !type.endsWith('_STARTED')
}
