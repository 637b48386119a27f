import { isTerminal, TERMINAL_EVENTS } from '@windlass/domain/states'
import { claimViolations } from './check-claims.ts'
import type { FinalExecution, RecordedCall, Run } from './history.ts'
import { statesAlong } from './lifecycle-model.ts'
import { type CallOf, callsOf, groupBy } from './run-queries.ts'

/**
 * Lists the violations of a run, each with the code of the broken invariant. Calls are ordered by real
 * time only: one precedes another if its response came before the other was sent (linearizability).
 */
export function violationsOf(run: Run): string[] {
  const ended = [...run.ended.values()]
  return [
    ...existence(run),
    ...ended.flatMap((one) => [...path(one)]),
    ...ended.flatMap((one) => [...effects(one)]),
    ...reads(run),
    ...cancels(run),
    ...resumes(run),
    ...approvals(run),
    ...claimViolations(run),
  ]
}

function* existence(run: Run): Generator<string> {
  const byMarker = new Map<number, string>()
  for (const { id, marker } of run.ended.values()) {
    if (byMarker.has(marker)) yield `E2-twice: run ${marker}`
    byMarker.set(marker, id)
  }
  for (const { status, marker, result } of callsOf(run, 'run')) {
    if (status === 200 && byMarker.get(marker) !== result.id) yield `E1-lost: run ${marker}`
    if (status >= 400 && byMarker.has(marker)) yield `E3-phantom: run ${marker}`
  }
  const [first = [], ...others] = run.lists.map((list) => [...list].sort().join())
  if (others.some((list) => list !== first)) yield 'lists-differ'
}

function* path({ id, state, events, reason }: FinalExecution): Generator<string> {
  const along = statesAlong(events)
  const wrong = along.findIndex((states) => states.size === 0)
  const types = events.map(({ type }) => type)
  if (wrong > 0) yield `illegal: ${id} ${types.slice(0, wrong)}`
  if (!along.at(-1)?.has(state)) yield `state-of-log: ${id} ${state} after ${types}`
  const ends = types.filter((type) => TERMINAL_EVENTS.has(type))
  if (isTerminal(state) && ends.join() !== `WORKFLOW_${state}`) yield `ends: ${id} ${ends}`
  if (!isTerminal(state) && ends.length > 0) yield `ends: ${id} ${state} ${ends}`
  if (!isTerminal(state) && reason === '') yield `stuck: ${id} ${state}`
  if (!isTerminal(state) && state !== 'PAUSED') yield `stuck: ${id} ${state} ${reason}`
}

/** Each effect occurs once, generations never decrease, and a completed execution has all effects. */
function* effects({ id, state, output, events }: FinalExecution): Generator<string> {
  const seen = new Set<string>()
  const ids = new Set<string>()
  let newest = 0
  for (const event of events) {
    if (ids.has(`${event.id} ${event.type}`)) yield `event-twice: ${id} ${event.type}`
    ids.add(`${event.id} ${event.type}`)
    if (event.type !== 'TASK_COMPLETED') continue
    const { generation } = event.value as { generation: number }
    if (seen.has(event.source_id))
      yield `effect-twice: ${id} ${event.source_id} under ${generation} after ${newest}`
    seen.add(event.source_id)
    if (generation < newest) yield `C3-backwards: ${id} ${event.source_id}`
    newest = Math.max(newest, generation)
  }
  if (state === 'COMPLETED' && output !== [...seen].join()) yield `output: ${id} ${output}`
}

function* reads(run: Run): Generator<string> {
  const along = new Map([...run.ended.values()].map(({ id, events }) => [id, statesAlong(events)]))
  const last = new Map<string, CallOf<'read'>[]>()
  for (const read of callsOf(run, 'read')) {
    const { state = '', events = 0 } = read.result
    if (read.status !== 200) continue
    if (!along.get(read.id)?.[events]?.has(state)) yield `read: ${read.id} ${state} after ${events}`
    const earlier = last.get(read.id) ?? []
    if (earlier.some((one) => one.received < read.sent && (one.result.events ?? 0) > events))
      yield `E4-backwards: ${read.id}`
    last.set(read.id, [...earlier, read])
  }
}

function* cancels(run: Run): Generator<string> {
  const final = callsOf(run, 'read').filter(({ result }) => isTerminal(result.state ?? ''))
  for (const op of callsOf(run, 'cancel')) {
    const known = run.ended.get(op.id)
    if (op.status === 400 && known && !isTerminal(known.state)) yield `E8-refused-unended: ${op.id}`
    if (op.status !== 200) continue
    if (known) yield* cancelled(op, known)
    if (final.some(({ id, received }) => id === op.id && received < op.sent))
      yield `E8-cancel-after-end: ${op.id}`
  }
}

function* cancelled(
  { result }: RecordedCall,
  { id, state, events }: FinalExecution,
): Generator<string> {
  if (!isTerminal(state)) yield `E6-not-ended: ${id}`
  if (!events.some(({ type }) => type === 'WORKFLOW_CANCELLING'))
    yield `E8-cancel-left-no-trace: ${id}`
  if (result.state === 'CANCELLED' && state !== 'CANCELLED') yield `E8-cancelled-not: ${id}`
}

/** Each resume has a unique body: it is in the log if and only if the call was answered 200. */
function* resumes(run: Run): Generator<string> {
  for (const { id, body, status } of callsOf(run, 'resume')) {
    const delivered = (run.ended.get(id)?.events ?? []).filter(
      ({ type, value }) => type === 'WORKFLOW_RESUMING' && JSON.stringify(value) === body,
    )
    if (status === 200 && delivered.length !== 1) yield `E8-resume-lost: ${id} ${body}`
    if (status >= 400 && delivered.length > 0) yield `E8-resume-denied: ${id} ${body}`
    if (delivered.length > 1) yield `E9-resume-twice: ${id} ${body}`
  }
}

function* approvals(run: Run): Generator<string> {
  for (const [id, calls] of groupBy(callsOf(run, 'approve'), (call) => call.id)) {
    const events = run.ended.get(id)?.events ?? []
    const decided = events.filter(({ type }) => type === 'TASK_APPROVED').length
    const won = calls.filter(({ status }) => status === 200).length
    const unknown = calls.filter(({ status }) => status === 0).length
    if (won > decided) yield `E8-approval-lost: ${id}`
    if (decided > won + unknown) yield `E8-approval-denied: ${id}`
  }
}
