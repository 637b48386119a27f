import { isSettled, isTerminal, TERMINAL_EVENTS } from '@windlass/domain/states'
import { LogGrew, Ready, WorkerSignal } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus } from '@windlass/runtime/nats/bus'
import { subjectOf } from '@windlass/runtime/nats/subjects'
import type { Execution } from '../domain/execution.ts'
import { toMessage } from '../domain/message.ts'
import type { CommittedChange } from './pessimistic.ts'
import type { WaitingDispatchers } from './waiters.ts'

/** Larger entries are not sent about: who waits reads them from the log. */
const MAX_SIGNAL_BYTES = 64 * 1024

interface NotifyDeps {
  bus: Bus
  waiters: WaitingDispatchers
  onFinished(): void
}

/**
 * Tells, after a commit, whoever may be waiting for it: followers of a log, dispatchers with free
 * workers, the dispatcher that holds a worker. All of it may be lost; everyone looks by himself too.
 * Work is handed on at once, the rest is told when whoever made the change has been answered.
 */
export const createNotifier =
  ({ bus, waiters, onFinished }: NotifyDeps) =>
  (effects: readonly CommittedChange[]): void => {
    notifyReady(bus, new Set(waiters.assignQueued(effects.flatMap(newlyReady)).map(requirementOf)))
    setImmediate(() => {
      for (const effect of effects) publishLogEntries(bus, effect)
      for (const [worker, slots] of freedSlots(effects))
        publishWorkerSignal(bus, worker, { body: { $case: 'slot_freed', value: { slots } } })
      for (const { execution_id, held_by = '' } of effects.flatMap(newlyCancelling))
        notifyCancelDue(bus, held_by, execution_id)
      if (effects.some(hasTerminalEvent)) onFinished()
    })
  }

/** Tells every dispatcher that work was queued. */
export function notifyReady(bus: Bus, requirement_ids: Iterable<string>): void {
  for (const requirement_id of requirement_ids)
    bus.publishBestEffort(`ready.${requirement_id}`, Ready.encode({ requirement_id }).finish())
}

const requirementOf = ({ requirement_id }: Execution) => requirement_id

const hasTerminalEvent = ({ entries }: CommittedChange) =>
  entries.some(({ type }) => TERMINAL_EVENTS.has(type))

const newlyReady = ({ before, after }: CommittedChange) =>
  after.queued && !before?.queued ? [after] : []

const newlyCancelling = ({ before, after }: CommittedChange) =>
  after.state === 'CANCELLING' && before?.state !== 'CANCELLING' ? [after] : []

function freedSlots(effects: readonly CommittedChange[]): Map<string, number> {
  const slots = new Map<string, number>()
  for (const { before, after } of effects) {
    const holder = before?.held_by
    if (holder && holder !== after.held_by) slots.set(holder, (slots.get(holder) ?? 0) + 1)
  }
  return slots
}

function publishLogEntries(bus: Bus, { after, entries }: CommittedChange): void {
  if (entries.length === 0) return
  const { execution_id, state, last_seq } = after
  const bytes = entries.reduce((sum, { value_json }) => sum + value_json.length, 0)
  const omitted = bytes > MAX_SIGNAL_BYTES
  // Whoever waits for the end has the input, or reads the row.
  const ended = !omitted && isTerminal(state) ? toMessage({ ...after, input_json: '' }) : undefined
  const message = { execution_id, state, last_seq, omitted, entries: omitted ? [] : entries, ended }
  const kind = isSettled(state) ? 'settled' : 'step'
  bus.publishBestEffort(
    `executions.${execution_id}.events.${kind}`,
    LogGrew.encode(message).finish(),
  )
}

/** A worker holds something that is to be cancelled; safe to repeat. */
export const notifyCancelDue = (bus: Bus, worker: string, execution_id: string) =>
  publishWorkerSignal(bus, worker, { body: { $case: 'cancel_due', value: { execution_id } } })

function publishWorkerSignal(bus: Bus, worker: string, message: WorkerSignal): void {
  if (worker)
    bus.publishBestEffort(subjectOf('workers', worker), WorkerSignal.encode(message).finish())
}
