import { StatusError } from '@windlass/api-client/errors'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { serverNow } from './server-clock.ts'

export interface Answer<T> {
  /** The last answer; it stays while a later request fails. */
  data: T | undefined
  /** Why the last request failed. */
  error: Error | undefined
  /** When `data` was read, in milliseconds since 1970. */
  readAt: number | undefined
  refresh(): void
}

interface Options {
  /** Milliseconds between two requests while the page is visible; none if undefined. */
  every?: number | undefined
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

/** Forgets every answer: another caller has signed in. */
export const forgetAnswers = (): void => kept.clear()

/** A 401 of any request: the session has ended. */
export const SESSION_ENDED = 'console:session-ended'

/** After a failure the next request waits longer, as after a 503 with Retry-After. */
const MAX_BACKOFF_MS = 30_000
/** Answers that asking again does not change. */
const isFinal = (error: unknown) =>
  error instanceof StatusError && [400, 401, 403, 404, 422].includes(error.status)

type State<T> = Pick<Answer<T>, 'data' | 'error' | 'readAt'> & { key: string }

const initial = <T>(key: string): State<T> => {
  const known = kept.get(key)
  return { key, data: known?.data as T | undefined, readAt: known?.readAt, error: undefined }
}

/** Reads from the server, again with each new key, and regularly if asked to. No key: nothing is read. */
export function useQuery<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  { every }: Options = {},
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
      every,
    )
    again.current = () => poll.now()
    return () => poll.stop()
  }, [key, every])

  const refresh = useCallback(() => again.current(), [])
  const current = state.key === name ? state : initial<T>(name)
  return { ...current, refresh }
}

/** Repeats a request: never two at a time, not while the page is hidden, slower after failures. */
class Poll {
  readonly #load: (signal: AbortSignal) => Promise<void>
  readonly #fail: (error: Error) => void
  readonly #every: number | undefined
  readonly #stopped = new AbortController()
  #timer: number | undefined
  #failures = 0
  #running = false
  #repeat = false

  constructor(
    load: (signal: AbortSignal) => Promise<void>,
    fail: (error: Error) => void,
    every: number | undefined,
  ) {
    this.#load = load
    this.#fail = fail
    this.#every = every
    document.addEventListener('visibilitychange', this.#onVisible)
    this.now()
  }

  readonly #onVisible = () => {
    if (!document.hidden && this.#every !== undefined) this.now()
  }

  now(): void {
    if (this.#running) this.#repeat = true
    else void this.#run()
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer)
    this.#running = true
    this.#repeat = false
    const { signal } = this.#stopped
    try {
      await this.#load(signal)
      this.#failures = 0
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof StatusError && error.status === 401)
        window.dispatchEvent(new Event(SESSION_ENDED))
      this.#failures++
      this.#fail(error as Error)
      if (isFinal(error)) this.#failures = 0
    } finally {
      this.#running = false
    }
    if (!signal.aborted) this.#plan()
  }

  #plan(): void {
    if (this.#repeat) return void this.#run()
    // A request that failed for a reason that may pass is repeated, also where nothing is polled.
    const interval = this.#every ?? (this.#failures > 0 ? 1_000 : undefined)
    if (interval === undefined || document.hidden) return
    const wait = Math.min(interval * 2 ** Math.min(this.#failures, 5), MAX_BACKOFF_MS)
    this.#timer = window.setTimeout(() => this.now(), Math.max(wait, interval))
  }

  stop(): void {
    document.removeEventListener('visibilitychange', this.#onVisible)
    clearTimeout(this.#timer)
    this.#stopped.abort()
  }
}
