import { ConnectionError, StatusError } from './errors.ts'

/** The effect of a second delivery: none, harm, or by default harm only if the first was carried out. */
export type Repeatability = 'repeatable' | 'once' | undefined

const FIRST_DELAY_MS = 100
const MAX_DELAY_MS = 5_000
const TEMPORARY = new Set([429, 500, 502, 503, 504])

/**
 * True if a failed request may be sent again: after 429, or if no connection was made, always; after 503
 * unless it must be delivered once, because its first answer may be lost; after a lost connection or
 * another 5xx only if it is repeatable. The rules of the Python client (`client/_transport.py`).
 */
function mayRepeat(error: unknown, repeatability: Repeatability): boolean {
  if (error instanceof ConnectionError)
    return error.hasSentNothing || repeatability === 'repeatable'
  if (!(error instanceof StatusError) || !TEMPORARY.has(error.status)) return false
  if (error.status === 429 || repeatability === 'repeatable') return true
  return error.status === 503 && repeatability !== 'once'
}

interface RetryOptions {
  repeatability: Repeatability
  /** False while a connection that cannot be made is reported at once. */
  canReconnect: () => boolean
  retryForMs: number
  signal: AbortSignal
}

/** Calls `send` again while it fails for a passing reason, for at most `retryForMs` after its first failure. */
export async function sendWithRetries<T>(
  send: () => Promise<T>,
  { repeatability, canReconnect, retryForMs, signal }: RetryOptions,
): Promise<T> {
  let untilMs: number | undefined
  let nominalMs = FIRST_DELAY_MS
  for (;;) {
    try {
      return await send()
    } catch (error) {
      untilMs ??= performance.now() + retryForMs
      const requestedMs = error instanceof StatusError ? error.retryAfterMs : undefined
      const delayMs = requestedMs || Math.min(MAX_DELAY_MS, nominalMs * (0.5 + Math.random()))
      nominalMs = Math.min(MAX_DELAY_MS, 2 * nominalMs)
      const isLost = error instanceof ConnectionError && !canReconnect()
      const isLate = performance.now() + delayMs > untilMs
      if (isLost || isLate || !mayRepeat(error, repeatability)) throw error
      await pause(delayMs, signal)
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
