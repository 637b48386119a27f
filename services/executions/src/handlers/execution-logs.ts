import { createHash } from 'node:crypto'
import type { HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import type { Handlers } from '@windlass/rpc/call'
import { notFound } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Execution } from '../domain/execution.ts'
import { TimelineBuilder } from '../domain/timeline.ts'
import * as executions from '../store/executions.ts'
import { cutPage, exceedsPage } from '../store/log.ts'
import * as pages from '../store/log-pages.ts'

type Rpcs = Handlers<typeof HistoryService>

const MAX_PAGE = 1_000
const MAX_PART_BYTES = 4 * 1_048_576
/** Maximum number of entries of a timeline, and of one read. */
const MAX_OUTLINE = 200_000
const OUTLINE_PAGE = 10_000

/** Creates the handlers that read logs and payloads of one execution. */
export const logHandlers = (db: Db): Pick<Rpcs, 'readLog' | 'readPayload' | 'timeline'> => ({
  async readLog({ limit, ...request }) {
    const { execution_id } = request
    const [row] = await executions.readUnlocked(db, [execution_id])
    if (!row) throw notFound('Execution', execution_id)
    const { last_seq } = row
    const page = { ...request, last_seq, limit: Math.min(limit || MAX_PAGE, MAX_PAGE) }
    const found = await pages.readPage(db, page)
    const read = cutPage(found)
    const isBackwards = pages.isBackwards(page)
    const entries = isBackwards ? read.reverse() : read
    // A page that is not full ends the log. To look for further entries of its types would read the rest again.
    const isLast = found.length < page.limit && !exceedsPage(found)
    const [before, after] = [entries.at(0)?.seq, entries.at(-1)?.seq]
    const [more_before, more_after] = await Promise.all([
      !(isLast && isBackwards) && pages.hasMore(db, page, { before: before ?? page.after + 1 }),
      !(isLast && page.before === 0) &&
        pages.hasMore(db, page, { after: after ?? Math.max(page.after, page.before - 1) }),
    ])
    return {
      entries: entries.map(({ value_bytes, cut, ...entry }) => ({ entry, value_bytes, cut })),
      last_seq,
      more_before,
      more_after,
    }
  },

  async readPayload({ length, ...request }) {
    const most = Math.min(length, MAX_PART_BYTES)
    const row = await pages.readPart(db, { ...request, length: most })
    if (!row) throw notFound('Execution', request.execution_id)
    const { part, total_bytes, revision } = row
    const found = part !== undefined
    return { found, part: part ?? Buffer.alloc(0), total_bytes: total_bytes ?? 0, revision }
  },

  async timeline({ execution_id }) {
    const [row] = await executions.readUnlocked(db, [execution_id])
    if (!row) throw notFound('Execution', execution_id)
    const timeline = await readTimeline(db, row)
    return { timeline_json: JSON.stringify({ execution_id, ...timeline }) }
  },
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/**
 * Reads the log of a row up to its `last_seq`, page by page, so that a large log is never held as a whole.
 */
async function readTimeline(db: Db, { execution_id, created_at, state, last_seq }: Execution) {
  const builder = new TimelineBuilder(created_at, sha256)
  const end = Math.min(last_seq, MAX_OUTLINE)
  const read = (after: number): Promise<pages.TimelineEvent[]> => {
    if (after >= end) return Promise.resolve([])
    const upTo = Math.min(after + OUTLINE_PAGE, end)
    return pages.readOutline(db, execution_id, { after, upTo })
  }
  let reading = read(0)
  for (let after = 0; after < end; after += OUTLINE_PAGE) {
    const page = await reading
    // The database reads a page while the entries of the previous one are added.
    reading = read(after + OUTLINE_PAGE)
    for (const entry of page) builder.add(entry)
  }
  return builder.build({ state, last_seq }, end < last_seq)
}
