import { useRef } from 'preact/hooks'
import { send } from '../api/server.ts'
import { type Answer, useQuery } from '../api/use-query.ts'
import { type LogEvent, toLogPage } from '../exact/execution.ts'
import type { LiveSource } from '../live/live-source.ts'

const EVERY_MS = 5_000
const GAP_MS = 500
const PAGE = 500

const pathOf = (id: string) => `/executions/${encodeURIComponent(id)}/log`

interface Log {
  events: readonly LogEvent[]
  /** True if there are later entries, which are read on request. */
  more: boolean
  /** Number of the last entry of the log. */
  lastSeq: number
}

/**
 * The log of an execution from its beginning. Entries after the last one are read when there are new ones,
 * up to the number that is wanted; `readMore` raises it by a page.
 */
export function useLog(id: string, live: LiveSource): Answer<Log> & { readMore: () => void } {
  const known = useRef({ id: '', events: [] as readonly LogEvent[], wanted: PAGE })
  if (known.current.id !== id) known.current = { id, events: [], wanted: PAGE }
  const load = async (signal: AbortSignal): Promise<Log> => {
    const held = known.current
    const after = String(held.events.at(-1)?.seq ?? 0)
    const query = { after, limit: String(PAGE), payloads: 'short' }
    const page = toLogPage(await send({ method: 'GET', path: pathOf(id), query }, signal))
    const room = held.wanted - held.events.length
    held.events = [...held.events, ...page.events.slice(0, room)]
    const more = page.more || page.events.length > room
    return { events: held.events, more, lastSeq: page.lastSeq }
  }
  const answer = useQuery(`log ${id}`, load, { every: EVERY_MS, gapMs: GAP_MS, live })
  const readMore = () => {
    known.current.wanted += PAGE
    answer.refresh()
  }
  return { ...answer, readMore }
}

/** Reads the whole value of an entry. */
export async function readValue(id: string, seq: number, signal?: AbortSignal): Promise<string> {
  const query = { after: String(seq - 1), limit: '1', payloads: 'full' }
  const page = toLogPage(await send({ method: 'GET', path: pathOf(id), query }, signal))
  return page.events[0]?.value ?? 'null'
}
