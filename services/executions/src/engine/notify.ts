import { isSettled, isTerminal, TERMINAL_EVENTS } from '@windlass/domain/states'
import { LogGrew, Ready, WorkerSignal } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus } from '@windlass/runtime/nats/bus'
import { subjectOf } from '@windlass/runtime/nats/subjects'
import type { Execution } from '../domain/execution.ts'
import { isHandedOver } from '../domain/hand-over.ts'
import { toMessage } from '../domain/message.ts'
import type { CommittedChange } from './batch.ts'
import type { ChangeSignals } from './change-signals.ts'
import type { WaitingDispatchers } from './waiters.ts'

/** Larger entries are left out of the message; followers then read them from the log. */
const MAX_SIGNAL_BYTES = 64 * 1024

interface NotifyDeps {
  bus: Bus
  waiters: WaitingDispatchers
  changeSignals: ChangeSignals
  /** Called with the executions whose logs got their terminal events. */
  onFinished(executions: readonly Execution[]): void
  /** Called with the parents whose nested runs may have to be cancelled. */
  onChildrenDue(parent_ids: readonly string[]): void
}

/**
 * Publishes wake-ups after a commit: log followers, waiting dispatchers, the holder of a worker
 * stream. All are best effort; each receiver also polls. Queued work is assigned at once, the other
 * wake-ups follow when the commands have been answered.
 */
export const createNotifier =
  (deps: NotifyDeps) =>
  (committed: readonly CommittedChange[]): void => {
    const unassigned = deps.waiters.assignQueued(committed.flatMap(newlyQueued))
    const waiting = [...unassigned, ...committed.flatMap(newlyHandedOver)]
    notifyReady(deps.bus, new Set(waiting.map(({ requirement_id }) => requirement_id)))
    setImmediate(() => announce(deps, committed, waiting))
  }

function announce(
  { bus, changeSignals, onFinished, onChildrenDue }: NotifyDeps,
  committed: Committed,
  waiting: readonly Execution[],
): void {
  for (const change of committed) publishLogEntries(bus, change)
  changeSignals.add(changedIds(committed, waiting))
  for (const [worker, slots] of freedSlots(committed))
    publishWorkerSignal(bus, worker, { body: { $case: 'slot_freed', value: { slots } } })
  for (const cancelled of committed.flatMap(newlyCancelling)) notifyCancelDue(bus, cancelled)
  const finished = committed.filter(hasTerminalEvent)
  if (finished.length > 0) onFinished(finished.map(({ after }) => after))
  const parents = committed.flatMap(parentOfDueChildren)
  if (parents.length > 0) onChildrenDue(parents)
}

type Committed = readonly CommittedChange[]

/** Publishes a wake-up to all dispatchers for each of these requirements: work has been queued. */
export function notifyReady(bus: Bus, requirement_ids: Iterable<string>): void {
  for (const requirement_id of requirement_ids)
    bus.publishBestEffort(`ready.${requirement_id}`, Ready.encode({ requirement_id }).finish())
}

const hasTerminalEvent = ({ entries }: CommittedChange) =>
  entries.some(({ type }) => TERMINAL_EVENTS.has(type))

const newlyQueued = ({ before, after }: CommittedChange): Execution[] =>
  after.queued && !before?.queued ? [after] : []

const newlyHandedOver = ({ before, after }: CommittedChange): Execution[] =>
  isHandedOver(after) && before?.held_by !== after.held_by ? [after] : []

const newlyCancelling = ({ before, after }: CommittedChange) =>
  after.state === 'CANCELLING' && before?.state !== 'CANCELLING' ? [after] : []

/**
 * Returns the parent if this commit cancelled it, or created a nested run that ends with it
 * (cancel-children.ts).
 */
function parentOfDueChildren({ before, after }: CommittedChange): string[] {
  const { state, execution_id, parent_id, cancel_with_parent } = after
  const isCancelled = state === 'CANCELLING' || state === 'CANCELLED'
  if (isCancelled && before?.state !== state) return [execution_id]
  return !before && cancel_with_parent && parent_id ? [parent_id] : []
}

/** Number of executions that left each worker. */
function freedSlots(committed: readonly CommittedChange[]): Map<string, number> {
  const slots = new Map<string, number>()
  for (const { before, after } of committed) {
    const holder = before?.held_by
    if (holder && holder !== after.held_by) slots.set(holder, (slots.get(holder) ?? 0) + 1)
  }
  return slots
}

function publishLogEntries(bus: Bus, { after, entries, sender }: CommittedChange): void {
  if (entries.length === 0) return
  const { execution_id, state, last_seq, reply_to } = after
  const bytes = entries.reduce((sum, { value_json }) => sum + value_json.length, 0)
  const omitted = bytes > MAX_SIGNAL_BYTES
  // Without the input: a caller that waits for the end already has it, or reads the row.
  const ended = !omitted && isTerminal(state) ? toMessage({ ...after, input_json: '' }) : undefined
  const message = { execution_id, state, last_seq, omitted, entries: omitted ? [] : entries, ended }
  const signal = LogGrew.encode(message).finish()
  const kind = isSettled(state) ? 'settled' : 'step'
  // First, because a client waits for it; not needed if the answer to the command reaches the same process.
  if (reply_to && reply_to !== sender && kind === 'settled') publishReply(bus, reply_to, signal)
  bus.publishBestEffort(`executions.${execution_id}.events.${kind}`, signal)
}

/** Being queued appends no entry: `waiting` has the executions that no dispatcher took. Leases of the others have one. */
function changedIds(committed: Committed, waiting: readonly Execution[]): string[] {
  const grown = committed.flatMap(({ entries, after }) => (entries.length > 0 ? [after] : []))
  return [...grown, ...waiting].map(({ execution_id }) => execution_id)
}

/** Publishes on the subject of log entries, with the name of the sender in place of the execution id. */
const publishReply = (bus: Bus, reply_to: string, signal: Uint8Array) =>
  bus.publishBestEffort(`executions.${reply_to}.events.reply`, signal)

/** Signals the dispatcher that holds the worker's stream to deliver a cancel; safe to repeat. */
export const notifyCancelDue = (
  bus: Bus,
  { held_by = '', execution_id, claim_generation }: CancelledClaim,
): void =>
  publishWorkerSignal(bus, held_by, {
    body: { $case: 'cancel_due', value: { execution_id, claim_generation } },
  })

type CancelledClaim = Pick<Execution, 'held_by' | 'execution_id' | 'claim_generation'>

function publishWorkerSignal(bus: Bus, worker: string, message: WorkerSignal): void {
  if (worker)
    bus.publishBestEffort(subjectOf('workers', worker), WorkerSignal.encode(message).finish())
}
