import { useRef } from 'preact/hooks'
import { type CapturedLine, MAX_PAGE, readLines } from '../api/lines.ts'
import { type Answer, useQuery } from '../api/use-query.ts'

const EVERY_MS = 2_000

export interface LineFilter {
  level: string | undefined
  task_id: string | undefined
}

interface Lines {
  lines: readonly CapturedLine[]
  /** True if there are later lines, which are read on request. */
  more: boolean
}

/**
 * Captured lines of an execution. While it is open the lines after the last one are read again and again, up
 * to the number that is wanted; `readMore` raises it by a page.
 */
export function useLines(
  id: string,
  filter: LineFilter,
  isOpen: boolean,
): Answer<Lines> & { readMore: () => void } {
  const key = `lines ${id} ${JSON.stringify(filter)}`
  const known = useRef({ key: '', lines: [] as readonly CapturedLine[], more: true, wanted: 0 })
  if (known.current.key !== key) known.current = { key, lines: [], more: true, wanted: MAX_PAGE }
  const load = async (signal: AbortSignal): Promise<Lines> => {
    const held = known.current
    if (held.lines.length < held.wanted) {
      const after = String(held.lines.at(-1)?.seq ?? 0)
      const page = await readLines(id, { ...filter, after }, signal)
      held.lines = [...held.lines, ...page.lines]
      held.more = page.more
    }
    return { lines: held.lines, more: held.more }
  }
  const answer = useQuery(key, load, { every: isOpen ? EVERY_MS : undefined })
  const readMore = () => {
    known.current.wanted += MAX_PAGE
    answer.refresh()
  }
  return { ...answer, readMore }
}
