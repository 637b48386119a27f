import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { LiveSource } from '../live/live-source.ts'
import { joinReading, type Known, knownOf, type Load } from './shared-reading.ts'

export interface Answer<T> {
  /** The last answer; it stays while a later request fails. */
  data: T | undefined
  /** Reason why the last request failed. */
  error: Error | undefined
  /** When `data` was read, in milliseconds since 1970. */
  readAt: number | undefined
  refresh(): void
}

interface Options {
  /** Milliseconds between two requests while the page is visible; none if undefined. */
  every?: number | undefined
  /**
   * Announces when the answer changes: while it is live, the answer is read then, and not at intervals. It
   * must be the same object for the same key.
   */
  live?: LiveSource | undefined
  /** Milliseconds between two requests while `live` is live, for answers that also change with time. */
  everyWhileLive?: number | undefined
  /** Milliseconds between two requests for changes; by default those of `every`. */
  gapMs?: number | undefined
  /** False: no later visit of the screen shows the answer at once. For answers so many that they would displace others. */
  isKept?: boolean | undefined
}

type State = Known & { key: string }

/**
 * Reads from the server: again with each new key, and at intervals if requested. Without a key, nothing is
 * read. Parts of a page with the same key and options share the requests.
 */
export function useQuery<T>(
  key: string | undefined,
  load: Load<T>,
  { every, everyWhileLive, live, gapMs = every ?? 0, isKept = true }: Options = {},
): Answer<T> {
  const name = key ?? ''
  const [state, setState] = useState<State>(() => ({ key: name, ...knownOf(name) }))
  const loading = useRef(load)
  loading.current = load
  const again = useRef(() => {})

  useEffect(() => {
    if (key === undefined) return
    const schedule = { every, everyWhileLive, live, gapMs, isKept }
    const { now, leave } = joinReading(
      key,
      (signal, age) => loading.current(signal, age),
      schedule,
      (known) => setState((last) => (isShown(last, key, known) ? last : { key, ...known })),
    )
    again.current = now
    return leave
  }, [key, every, everyWhileLive, live, gapMs, isKept])

  const refresh = useCallback(() => again.current(), [])
  const { data, error, readAt } = state.key === name ? state : knownOf(name)
  return { data: data as T | undefined, error, readAt, refresh }
}

/** True if nothing is new, so that nothing is drawn again. */
const isShown = (last: State, key: string, { data, error, readAt }: Known): boolean =>
  last.key === key && last.data === data && last.error === error && last.readAt === readAt
