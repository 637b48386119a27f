import { duration } from '../format/time.ts'
import type { Attempt, Phase, Segment } from './segments.ts'

const WORDS: Record<Phase, string> = {
  queue: 'queue',
  claim: 'claim',
  run: 'run',
  paused: 'paused',
}

const WIDTH = 1_000
const GAP = 1.5
/** The narrowest bar that can be seen. */
const MIN_WIDTH = 2

/** One bar for each attempt: its time in the queue, until the claim, of the run, and paused. */
export function AttemptBars(props: { attempts: readonly Attempt[]; from: number; to: number }) {
  const { attempts, from, to } = props
  const scale = (time: number) => ((time - from) / Math.max(1, to - from)) * WIDTH
  return (
    <div class="phases">
      {attempts.map(({ segments, worker }, i) => (
        <div class="phase-row" key={i}>
          <span class="faint">Attempt {i + 1}</span>
          <svg
            viewBox={`0 0 ${WIDTH} 16`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`Attempt ${i + 1}: ${spoken(segments)}`}
          >
            {segments.map((one) => {
              const x = scale(one.from)
              const width = Math.max(MIN_WIDTH, scale(one.to) - x - GAP)
              return (
                <rect
                  key={`${one.phase}${one.from}`}
                  class={`ph-${one.phase}`}
                  x={x}
                  y="0"
                  width={width}
                  height="16"
                >
                  <title>{described(one)}</title>
                </rect>
              )
            })}
          </svg>
          <span class="mono faint">{worker ?? 'no worker yet'}</span>
        </div>
      ))}
      <Legend attempts={attempts} />
    </div>
  )
}

const described = ({ phase, from, to, isOpen }: Segment) =>
  `${WORDS[phase]} ${duration(to - from)}${isOpen ? ' so far' : ''}`

const spoken = (segments: readonly Segment[]) => segments.map(described).join(', ')

/** What the colours mean, with the time of each phase in all attempts. */
function Legend({ attempts }: { attempts: readonly Attempt[] }) {
  const totals = new Map<Phase, number>()
  for (const { phase, from, to } of attempts.flatMap(({ segments }) => segments))
    totals.set(phase, (totals.get(phase) ?? 0) + to - from)
  return (
    <div class="legend">
      {[...totals].map(([phase, ms]) => (
        <span key={phase}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect class={`ph-${phase}`} width="10" height="10" />
          </svg>
          {WORDS[phase]} {duration(ms)}
        </span>
      ))}
    </div>
  )
}
