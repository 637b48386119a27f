import { isTerminal } from '@windlass/domain/states'
import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import type { LogGrew, ProgressItem } from '@windlass/proto/windlass/signals/v1/signals'
import { BoundedInbox, type InboxMessage } from './inbox.ts'
import type { LiveDeps } from './wait-until-settled.ts'

export interface StreamSubscriber {
  /** Takes entries that were in the log already; resolves when more can be sent. */
  replay(entries: readonly LogEntry[], execution: Execution): Promise<void>
  /** Takes new entries. */
  entries(entries: readonly LogEntry[], state: string): Promise<void>
  progress(items: readonly ProgressItem[]): void
  /** Sends captured lines that were stored since the last call, if the reader asked for them. */
  lines(): Promise<void>
}

interface FollowOptions {
  execution_id: string
  /** Sequence number of the last entry that the subscriber has. */
  afterSeq: number
  subscriber: StreamSubscriber
  signal: AbortSignal
}

/**
 * Sends the log after `afterSeq` to a subscriber, each entry once and in order, until the execution
 * is terminal or the subscriber leaves. Subscribes before the first read, so that no entry is
 * missed in between.
 */
export async function follow(
  { executions, subscriptions }: LiveDeps,
  following: FollowOptions,
): Promise<void> {
  const { execution_id, subscriber, signal } = following
  const inbox = new BoundedInbox(signal)
  const stops = await Promise.all([
    subscriptions.grew.subscribe(execution_id, (grew) => inbox.put({ grew })),
    subscriptions.progress.subscribe(execution_id, ({ items, last_line }) =>
      inbox.put({ items, hasLines: last_line !== undefined }),
    ),
  ])
  let seq = following.afterSeq
  let state: string | undefined

  const catchUp = async (): Promise<Execution | undefined> => {
    for (;;) {
      const { execution, entries, more } = await executions.page(execution_id, seq)
      if (!execution) return undefined
      await subscriber.replay(entries, execution)
      // A sequence number beyond the end of the log is reduced to the end.
      seq = entries.at(-1)?.seq ?? Math.min(seq, execution.last_seq)
      if (!more || signal.aborted) return execution
    }
  }
  const onMessage = async (message: InboxMessage): Promise<string | undefined> => {
    if ('grew' in message) {
      // A poll, which also covers a lost message.
      if (message.grew.omitted) await subscriber.lines()
      return onLogGrew(message.grew)
    }
    subscriber.progress(message.items)
    if (message.hasLines) await subscriber.lines()
    return state
  }
  /** Returns the state after a signal, once all entries up to it were sent. */
  const onLogGrew = async (grew: LogGrew): Promise<string | undefined> => {
    if (grew.last_seq <= seq) return grew.state
    const fresh = grew.entries.filter((entry) => entry.seq > seq)
    const hasAll = !grew.omitted && fresh.length === grew.last_seq - seq
    if (!hasAll) return (await catchUp())?.state
    await subscriber.entries(fresh, grew.state)
    seq = grew.last_seq
    return grew.state
  }

  try {
    await subscriber.lines()
    state = (await catchUp())?.state
    while (state !== undefined && !isTerminal(state)) {
      const message = await inbox.take()
      if (signal.aborted) return
      if (message === 'overflow') {
        await subscriber.lines()
        state = (await catchUp())?.state
      } else state = await onMessage(message)
    }
  } finally {
    for (const stop of stops) stop()
  }
}
