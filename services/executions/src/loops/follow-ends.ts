import type { Service } from '@windlass/rpc/open-service'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import * as cursor from '../store/relay-cursor.ts'

const BATCH = 500
/** Polling fallback for prompts that were lost, such as those of a replica that died after its commit. */
const POLL_INTERVAL_MS = 5_000
/** Changes within this time are looked up together. */
const WAKE_DELAY_MS = 20
/** If there are more ids than this, the rest is left to the poll. */
const MAX_RECENT = 10_000

/** Acts on executions that have changed; throws if one of them must be read again. */
type OnChanged = (execution_ids: readonly string[]) => Promise<void>

/**
 * Acts on executions soon after this replica has changed them, and once more when the cursor finds their
 * end.
 */
export function followChanges(
  { db, startLoop }: Pick<Service, 'db' | 'startLoop'>,
  name: cursor.CursorName,
  act: OnChanged,
) {
  let recent: string[] = []
  const prompt = startLoop(
    `act on changes: ${name}`,
    POLL_INTERVAL_MS,
    () => {
      const taken = recent
      recent = []
      return act(taken)
    },
    { wakeDelayMs: WAKE_DELAY_MS },
  )
  startLoop(`find lost changes: ${name}`, POLL_INTERVAL_MS, () => followEnds(db, name, act))
  return {
    /** Executions that this replica has changed. */
    onChanged(execution_ids: readonly string[]): void {
      if (recent.length < MAX_RECENT) recent.push(...execution_ids)
      prompt.wake()
    },
  }
}

/**
 * Polls: acts on the ends after the cursor. Resolves to true if there are more. After a failure it
 * continues with later ends, but the cursor stays, so that the failed ones are read again.
 */
const followEnds = (db: Db, name: cursor.CursorName, act: OnChanged): Promise<boolean> =>
  db.tx(async (tx) => {
    if (!(await cursor.lockCursor(tx, name))) return false
    const first = await followPage(tx, name, act)
    if (first.error) {
      for (let page = first; page.isMore; ) page = await followPage(tx, name, act, page.last)
      throw first.error
    }
    if (first.last) await cursor.moveCursor(tx, name, first.last)
    return first.isMore
  })

interface Page {
  last: cursor.Position | undefined
  isMore: boolean
  /** The action failed for one of the ends. */
  error: unknown
}

async function followPage(
  tx: Tx,
  name: cursor.CursorName,
  act: OnChanged,
  after?: cursor.Position,
): Promise<Page> {
  const finished = await cursor.listAfterCursor(tx, name, BATCH, after)
  const ended = finished.map(({ execution_id }) => execution_id)
  const error = await act(ended).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { last: finished.at(-1), isMore: finished.length === BATCH, error }
}
