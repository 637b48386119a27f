import { useCallback } from 'preact/hooks'
import { ago, duration } from '../format/time.ts'
import { useTimeText } from './ticker.ts'

/** How long ago, kept up to date, with the exact time in a tooltip. */
export function Since({ at }: { at: number }) {
  const text = useTimeText(useCallback((now) => ago(at, now), [at]))
  const exact = new Date(at).toISOString()
  return (
    <time dateTime={exact} title={exact}>
      {text}
    </time>
  )
}

/** How long something has gone on, kept up to date. */
export function SoFar({ from }: { from: number }) {
  const text = useTimeText(useCallback((now) => duration(Math.max(0, now - from)), [from]))
  return (
    <span class="num open" title="so far">
      {text}
    </span>
  )
}
