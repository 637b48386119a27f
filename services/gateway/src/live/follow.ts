import { isTerminal } from '@windlass/domain/states'
import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import type { LogGrew, ProgressItem } from '@windlass/proto/windlass/signals/v1/signals'
import { BoundedInbox } from './inbox.ts'
import type { LiveDeps } from './wait-until-settled.ts'

export interface StreamSubscriber {
  /** Takes entries that were in the log already; resolves when there is room for more. */
  replay(entries: readonly LogEntry[], execution: Execution): Promise<void>
  /** Takes entries as they come. */
  entries(entries: readonly LogEntry[], state: string): Promise<void>
  progress(items: readonly ProgressItem[]): void
}

interface FollowOptions {
  execution_id: string
  /** The last entry that the subscriber has. */
  afterSeq: number
  subscriber: StreamSubscriber
  signal: AbortSignal
}

/**
 * Gives a subscriber the log after `afterSeq`, first what is there and then what comes, each entry once
 * and in order, until the execution is over or the subscriber leaves. It listens before it reads, so
 * that nothing falls between.
 */
export async function follow(
  { executions, subscriptions }: LiveDeps,
  following: FollowOptions,
): Promise<void> {
  const { execution_id, subscriber, signal } = following
  const inbox = new BoundedInbox(signal)
  const stops = await Promise.all([
    subscriptions.grew.subscribe(execution_id, (grew) => inbox.put({ grew })),
    subscriptions.progress.subscribe(execution_id, ({ items }) => inbox.put({ items })),
  ])
  let seq = following.afterSeq

  const catchUp = async (): Promise<Execution | undefined> => {
    for (;;) {
      const { execution, entries, more } = await executions.page(execution_id, seq)
      if (!execution) return undefined
      await subscriber.replay(entries, execution)
      // A place that the log has not reached yet is no place.
      seq = entries.at(-1)?.seq ?? Math.min(seq, execution.last_seq)
      if (!more || signal.aborted) return execution
    }
  }
  /** The state after a piece of news, when all of the log up to it was handed on. */
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
    let state = (await catchUp())?.state
    while (state !== undefined && !isTerminal(state)) {
      const message = await inbox.take()
      if (signal.aborted) return
      if (message === 'overflow') state = (await catchUp())?.state
      else if ('grew' in message) state = await onLogGrew(message.grew)
      else subscriber.progress(message.items)
    }
  } finally {
    for (const stop of stops) stop()
  }
}
