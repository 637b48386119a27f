import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { LiveSource } from '../live/live-source.ts'
import { Poll } from './poll.ts'
import { serverNow } from './server-clock.ts'

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
}

/** Answers of screens that were left, so that going back shows them at once. */
const kept = new Map<string, { data: unknown; readAt: number }>()
const MAX_KEPT = 100

function keep(key: string, data: unknown): number {
  const readAt = serverNow()
  kept.delete(key)
  kept.set(key, { data, readAt })
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  return readAt
}

/** Drops every answer, because another caller has signed in. */
export const forgetAnswers = (): void => kept.clear()

type State<T> = Pick<Answer<T>, 'data' | 'error' | 'readAt'> & { key: string }

const initial = <T>(key: string): State<T> => {
  const known = kept.get(key)
  return { key, data: known?.data as T | undefined, readAt: known?.readAt, error: undefined }
}

/**
 * Reads from the server: again with each new key, and at intervals if requested. Without a key, nothing is
 * read.
 */
export function useQuery<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  { every, everyWhileLive, live, gapMs = every ?? 0 }: Options = {},
): Answer<T> {
  const name = key ?? ''
  const [state, setState] = useState<State<T>>(() => initial(name))
  const loading = useRef(load)
  loading.current = load
  const again = useRef(() => {})

  useEffect(() => {
    if (key === undefined) return
    setState((last) => (last.key === key ? last : initial(key)))
    const poll = new Poll(
      async (signal) => {
        const data = await loading.current(signal)
        if (!signal.aborted) setState({ key, data, readAt: keep(key, data), error: undefined })
      },
      (error) => setState((last) => ({ ...last, key, error })),
      () => (live?.isLive ? everyWhileLive : every),
      every,
    )
    again.current = () => poll.now()
    const leave = live?.subscribe(
      (gap = gapMs) => poll.soon(gap),
      () => poll.plan(),
    )
    return () => {
      leave?.()
      poll.stop()
    }
  }, [key, every, everyWhileLive, live, gapMs])

  const refresh = useCallback(() => again.current(), [])
  const current = state.key === name ? state : initial<T>(name)
  return { ...current, refresh }
}
