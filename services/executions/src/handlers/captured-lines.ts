import type { CapturedLinesService } from '@windlass/proto/windlass/executions/v1/captured_lines'
import type { Handlers } from '@windlass/rpc/call'
import { invalid, notFound } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { MAX_NUMBER, seqOf, withinLimits } from '../domain/line-limits.ts'
import * as executions from '../store/executions.ts'
import * as store from '../store/line-rows.ts'

const MAX_PAGE = 1_000
/** A page ends early when its messages together are longer than this. */
const MAX_PAGE_CHARS = 4 * 1_048_576

/** Creates the handlers of the service `CapturedLines`. The caller checks that the worker holds the claim. */
export const capturedLinesHandlers = (db: Db): Handlers<typeof CapturedLinesService> => ({
  async append({ execution_id, claim_generation, first, lines }) {
    if (first + lines.length > MAX_NUMBER)
      throw invalid(`a claim may send ${MAX_NUMBER} lines at most`)
    const positioned = lines.map((line, i) => ({
      ...line,
      execution_id,
      seq: seqOf(claim_generation, first + i),
    }))
    const kept = withinLimits(await store.readTotals(db, execution_id), positioned)
    if (kept.length === 0) return { last_seq: 0 }
    await store.insertLines(db, claim_generation, kept)
    return { last_seq: kept.at(-1)?.seq ?? 0 }
  },

  async read({ limit, ...page }) {
    const [row] = await executions.readUnlocked(db, [page.execution_id])
    if (!row) throw notFound('Execution', page.execution_id)
    const most = Math.min(limit || MAX_PAGE, MAX_PAGE)
    const read = await store.readPage(db, { ...page, limit: most + 1 })
    let chars = 0
    const end = read.findIndex(({ message }, i) => {
      chars += message.length
      return i === most || (i > 0 && chars > MAX_PAGE_CHARS)
    })
    return { lines: end < 0 ? read : read.slice(0, end), more: end >= 0 }
  },
})
