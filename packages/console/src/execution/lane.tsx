import { duration } from '../format/time.ts'
import { Took } from '../ui/times.tsx'
import { marksOf, STATE_WORDS, wordOf } from './call-words.ts'
import { type Call, type Try, triesOf } from './calls.ts'
import { type MarkName, MarkShape } from './lane-marks.tsx'
import type { Span } from './zoom.ts'

const WIDTH = 1_000
const MIN_WIDTH = 3
const INDENT_PX = 12
const MAX_DEPTH = 10
/** Maximum number of tries of a call that are drawn; the words count all of them. */
const MAX_TRIES = 40

interface Props extends Span {
  call: Call
  /** Begin of the execution. */
  base: number
  /** End of what has happened so far. */
  now: number
}

/** A call over the visible part of the time: its tries, its rollback, and how each of them ended. */
export function Lane({ call, base, now, from, to }: Props) {
  const end = call.to ?? Math.max(now, call.from)
  const marks = marksOf(call)
  const tries = triesOf(call).slice(-MAX_TRIES)
  return (
    <div class="lane">
      <span
        title={`${[call.name, STATE_WORDS[call.state], ...marks.map((name) => wordOf(name, call))].join(', ')}; entry ${call.seq}`}
        style={{ paddingLeft: `${Math.min(call.depth, MAX_DEPTH) * INDENT_PX}px` }}
      >
        <bdi>{call.name}</bdi>{' '}
        {call.state !== 'completed' && <span class="faint">{STATE_WORDS[call.state]} </span>}
        {marks.map((name) => (
          <span key={name} class="faint mark-word">
            <MarkShape name={name} /> {wordOf(name, call)}{' '}
          </span>
        ))}
      </span>
      <Bars
        {...{ call, tries, end, now, from, to }}
        label={`${call.name}: ${spoken(call, tries, base, end)}`}
      />
      <Took ms={end - call.from} isOpen={call.to === undefined} />
    </div>
  )
}

interface BarsProps extends Span {
  call: Call
  tries: readonly Try[]
  end: number
  now: number
  label: string
}

function Bars({ call, tries, end, now, from, to, label }: BarsProps) {
  const part = (time: number) => (time - from) / Math.max(1, to - from)
  const bar = (a: number, b: number) => {
    // The browser's rounding would misplace a bar that begins far outside of the view.
    const x = Math.min(WIDTH, Math.max(-MIN_WIDTH, part(a) * WIDTH))
    return { x, width: Math.max(MIN_WIDTH, Math.min(WIDTH * 2, part(b) * WIDTH) - x) }
  }
  const isShown = (time: number) => time >= from && time <= to
  const { rollback } = call
  return (
    <div class="bars" role="img" aria-label={label} title={label}>
      <svg viewBox={`0 0 ${WIDTH} 14`} preserveAspectRatio="none" aria-hidden="true">
        <line class="between" x1={bar(call.from, end).x} x2={part(end) * WIDTH} y1="7" y2="7" />
        {tries.map((one) => (
          <rect
            key={one.number}
            class={`bar-${one.hasFailed ? 'failed' : call.state}${call.isCached ? ' bar-cached' : ''}`}
            {...bar(one.from, one.to ?? end)}
            y="2"
            height="10"
          />
        ))}
        {rollback && (
          <rect
            class="bar-rollback"
            {...bar(rollback.from, rollback.to ?? now)}
            y="3.5"
            height="7"
          />
        )}
      </svg>
      {call.isCached && isShown(call.from) && <At part={part(call.from)} name="cached" />}
      {tries.map((one, i) => (
        <>
          {i > 0 && isShown(one.from) && <At part={part(one.from)} name="retry" />}
          {one.hasFailed && one.to !== undefined && isShown(one.to) && (
            <At part={part(one.to)} name="failed" />
          )}
        </>
      ))}
      {rollback && isShown(rollback.from) && <At part={part(rollback.from)} name="rollback" />}
    </div>
  )
}

const At = ({ part, name }: { part: number; name: MarkName }) => (
  <span class={`at at-${name}`} style={{ left: `${part * 100}%` }}>
    <MarkShape name={name} />
  </span>
)

/** A lane in words: state, begin, length and each try. */
function spoken(call: Call, tries: readonly Try[], base: number, end: number): string {
  const since = (time: number) => duration(time - base)
  const isPlain = tries.length === 1 && !call.rollback
  return [
    STATE_WORDS[call.state],
    `began at ${since(call.from)}`,
    `${call.to === undefined ? 'so far' : 'took'} ${duration(end - call.from)}`,
    ...(isPlain ? [] : tries.map((one) => spokenTry(one, since))),
    ...(call.rollback ? [`rollback at ${since(call.rollback.from)}`] : []),
    ...marksOf(call).map((name) => wordOf(name, call)),
  ].join(', ')
}

function spokenTry({ number, from, to, hasFailed }: Try, since: (time: number) => string): string {
  const end = to === undefined ? 'runs' : `${hasFailed ? 'failed' : 'ended'} at ${since(to)}`
  return `try ${number} at ${since(from)} ${end}`
}
