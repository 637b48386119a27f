import { StatusError } from '@windlass/api-client/errors'
import type { ServerSentEvent } from '@windlass/api-client/event-stream'
import { backoffMs } from './backoff.ts'

interface Connection {
  after: string | undefined
  signal: AbortSignal
  onOpen: () => void
}

export interface StreamOptions {
  /** Opens the stream behind an event, undefined: from its beginning; calls back when it is accepted. */
  open: (connection: Connection) => AsyncGenerator<ServerSentEvent>
  /** Id of the last event that is known. */
  after?: string | undefined
  onEvent: (event: ServerSentEvent) => void
  /** Called when the server has accepted the stream, and after each attempt that has ended. */
  onState: (isLive: boolean) => void
  /** The server will not give this stream to the caller; another attempt is made after a long time. */
  onRefused?: (error: StatusError) => void
  signal: AbortSignal
  random?: () => number
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Refusals that another attempt is unlikely to change. */
const REFUSALS = new Set([400, 401, 403, 404, 422])
const REFUSED_MS = 60_000
/** A stream that lasted this long was no failure. */
const STEADY_MS = 10_000

/**
 * Follows an event stream until the signal aborts: connects again with a growing wait when it breaks or
 * ends, and resumes behind the last event. An event whose id was seen may come again (the server repeats
 * what may have been lost): handlers must take it twice.
 */
export async function followStream(options: StreamOptions): Promise<void> {
  const { signal, onState, random, sleep = pause } = options
  const state = { after: options.after, failures: 0 }
  while (!signal.aborted) {
    const begun = performance.now()
    const wait = await attempt(options, state)
    if (signal.aborted) return
    onState(false)
    if (performance.now() - begun >= STEADY_MS) state.failures = 0
    state.failures++
    await sleep(wait ?? backoffMs({ failures: state.failures }, random), signal)
  }
}

interface Progress {
  after: string | undefined
  failures: number
}

/** Reads one connection to its end; returns the wait before the next if that is given. */
async function attempt(options: StreamOptions, state: Progress): Promise<number | undefined> {
  const { open, onEvent, onState, onRefused, signal, random } = options
  try {
    const { after } = state
    for await (const event of open({ after, signal, onOpen: () => onState(true) })) {
      if (event.id !== '' && event.id !== '0') state.after = event.id
      onEvent(event)
    }
    return undefined
  } catch (error) {
    if (!(error instanceof StatusError)) return undefined
    if (REFUSALS.has(error.status)) {
      onRefused?.(error)
      return REFUSED_MS
    }
    const { retryAfterMs } = error
    return backoffMs({ failures: state.failures + 1, retryAfterMs }, random)
  }
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
