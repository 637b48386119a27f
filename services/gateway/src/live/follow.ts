import { isTerminal } from '@windlass/domain/states'
import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import type { LogGrew, ProgressItem } from '@windlass/proto/windlass/signals/v1/signals'
import { Mailbox } from './inbox.ts'
import type { Live } from './wait-until-settled.ts'

export interface Reader {
  /** Takes entries that were in the log already; resolves when there is room for more. */
  replay(entries: readonly LogEntry[], execution: Execution): Promise<void>
  /** Takes entries as they come. */
  entries(entries: readonly LogEntry[], state: string): Promise<void>
  progress(items: readonly ProgressItem[]): void
}

interface Following {
  execution_id: string
  /** The last entry that the reader has. */
  afterSeq: number
  reader: Reader
  signal: AbortSignal
}

/**
 * Gives a reader the log after `afterSeq`, first what is there and then what comes, each entry once
 * and in order, until the execution is over or the reader leaves. It listens before it reads, so
 * that nothing falls between.
 */
export async function follow({ executions, waiters }: Live, following: Following): Promise<void> {
  const { execution_id, reader, signal } = following
  const mail = new Mailbox(signal)
  const stops = await Promise.all([
    waiters.grew.listen(execution_id, (grew) => mail.put({ grew })),
    waiters.progress.listen(execution_id, ({ items }) => mail.put({ items })),
  ])
  let seq = following.afterSeq

  const catchUp = async (): Promise<Execution | undefined> => {
    for (;;) {
      const { execution, entries, more } = await executions.page(execution_id, seq)
      if (!execution) return undefined
      await reader.replay(entries, execution)
      // A place that the log has not reached yet is no place.
      seq = entries.at(-1)?.seq ?? Math.min(seq, execution.last_seq)
      if (!more || signal.aborted) return execution
    }
  }
  /** The state after a piece of news, when all of the log up to it was handed on. */
  const hear = async (grew: LogGrew): Promise<string | undefined> => {
    if (grew.last_seq <= seq) return grew.state
    const fresh = grew.entries.filter((entry) => entry.seq > seq)
    const hasAll = !grew.omitted && fresh.length === grew.last_seq - seq
    if (!hasAll) return (await catchUp())?.state
    await reader.entries(fresh, grew.state)
    seq = grew.last_seq
    return grew.state
  }

  try {
    let state = (await catchUp())?.state
    while (state !== undefined && !isTerminal(state)) {
      const letter = await mail.take()
      if (signal.aborted) return
      if (letter === 'missed') state = (await catchUp())?.state
      else if ('grew' in letter) state = await hear(letter.grew)
      else reader.progress(letter.items)
    }
  } finally {
    for (const stop of stops) stop()
  }
}
