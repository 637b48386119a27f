import { ago, clock, duration } from '../format/time.ts'

/** How long ago, with the exact time in a tooltip. */
export function Ago({ at, now }: { at: number | undefined; now: number }) {
  if (at === undefined) return <span class="faint">–</span>
  const exact = new Date(at)
  return (
    <time dateTime={exact.toISOString()} title={exact.toISOString()}>
      {ago(at, now)}
    </time>
  )
}

export function Clock({ at, now }: { at: number | undefined; now: number }) {
  if (at === undefined) return <span class="faint">–</span>
  const exact = new Date(at)
  return (
    <time dateTime={exact.toISOString()} title={exact.toISOString()}>
      {clock(at, now)}
    </time>
  )
}

/** A duration; a running one is marked by a word for screen readers. */
export const Took = ({ ms, isOpen = false }: { ms: number | undefined; isOpen?: boolean }) =>
  ms === undefined ? (
    <span class="faint">–</span>
  ) : (
    <span class={isOpen ? 'num open' : 'num'} title={isOpen ? 'so far' : `${Math.round(ms)} ms`}>
      {duration(ms)}
    </span>
  )
