import {
  ArgumentError,
  ConnectionError,
  RequestTimeoutError,
  StatusError,
} from '@windlass/api-client/errors'
import type { ComponentChildren } from 'preact'
import type { Answer } from '../api/use-query.ts'
import { ago } from '../format/time.ts'
import { useAnnounced } from './announce.ts'
import { Icon } from './icon.tsx'
import { useNow } from './now.ts'

interface Problem {
  title: string
  text: string
}

/** True if the caller lacks a permission. */
export const isForbidden = (error: Error | undefined): boolean =>
  error instanceof StatusError && error.status === 403

/** True if the object has changed since it was read, and the change was therefore not made. */
export const isPreconditionFailed = (error: unknown): boolean =>
  error instanceof StatusError && error.status === 412

/** A failure in words: what is wrong and what can be done. */
export function problemOf(error: Error): Problem {
  if (error instanceof ConnectionError)
    return { title: 'The server cannot be reached', text: 'The console retries automatically.' }
  if (error instanceof RequestTimeoutError)
    return { title: 'The server does not answer', text: 'The console retries automatically.' }
  if (!(error instanceof StatusError))
    return { title: 'The answer cannot be shown', text: error.message }
  const detail = error.detail ?? `status ${error.status}`
  const titles: Record<number, string> = {
    401: 'You are not signed in',
    403: 'You may not see this',
    404: 'Not found',
    412: 'Changed elsewhere',
    413: 'Too large',
    429: 'Too many requests',
    503: 'The server is not ready',
  }
  return { title: titles[error.status] ?? 'The server refused', text: detail }
}

/** Why an act failed, in a sentence. */
export function refusalOf(error: Error): string {
  if (error instanceof ArgumentError) return error.message
  const isOpen = error instanceof ConnectionError || error instanceof RequestTimeoutError
  const { title, text } = problemOf(error)
  return `${title}: ${isOpen ? 'it may have been done or not; look before you try again.' : text}`
}

function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const { title, text } = problemOf(error)
  return (
    <div class="message failure" role="alert">
      <Icon name={isForbidden(error) ? 'lock' : 'warning'} />
      <div>
        <strong>{title}</strong>
        <p>{text}</p>
        {isForbidden(error) && <p>An administrator can grant you a role with it.</p>}
        {onRetry && !isForbidden(error) && (
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        )}
      </div>
    </div>
  )
}

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="message empty">
    <strong>{title}</strong>
    {children}
  </div>
)

/** Grey lines in the place of what is being read. */
export const Loading = ({ lines = 6 }: { lines?: number }) => (
  <div class="loading" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_, i) => (
      <span key={i} />
    ))}
  </div>
)

/** Says that what is shown is old, and since when. */
function Stale({ error, readAt }: { error: Error; readAt: number | undefined }) {
  const now = useNow()
  const { title, text } = problemOf(error)
  const reason = isForbidden(error) ? `${title}: ${text}` : title
  useAnnounced('What this screen shows is out of date.')
  return (
    <p class="stale">
      <Icon name="warning" />
      {reason}. What you see was read {readAt ? ago(readAt, now) : 'before'}.
    </p>
  )
}

interface LoadedProps<T> {
  answer: Answer<T>
  lines?: number
  children: (data: T) => ComponentChildren
}

/** Shows an answer, or that it is being read, failed or is old. */
export function Loaded<T>({ answer, lines, children }: LoadedProps<T>) {
  const { data, error, readAt, refresh } = answer
  if (data === undefined)
    return error ? <Failure error={error} onRetry={refresh} /> : <Loading lines={lines} />
  return (
    <>
      {error && <Stale error={error} readAt={readAt} />}
      {children(data)}
    </>
  )
}
