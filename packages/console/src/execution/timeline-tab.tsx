import { useMemo } from 'preact/hooks'
import { readTimeline, type TimelineView } from '../api/timeline.ts'
import { useQuery } from '../api/use-query.ts'
import { count, duration } from '../format/time.ts'
import type { LiveSource } from '../live/live-source.ts'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Took } from '../ui/times.tsx'
import { VirtualList } from '../ui/virtual-list.tsx'
import { type Call, type CallState, callsOf } from './calls.ts'

const EVERY_MS = 5_000
/** The timeline of a long log is a megabyte: it is not read for each of its events. */
const GAP_MS = 1_000
const WIDTH = 1_000
const MIN_WIDTH = 3
const TICKS = [0, 0.25, 0.5, 0.75, 1]
const LANE_HEIGHT = 28
const INDENT_PX = 12

const WORDS: Record<CallState, string> = {
  running: 'running',
  completed: 'completed',
  failed: 'failed',
  paused: 'paused',
  awaiting: 'waits for approval',
  rejected: 'rejected',
}

interface Span {
  from: number
  to: number
}

/** The calls of tasks over the time of the execution. */
export function TimelineTab({ id, live, ...span }: Span & { id: string; live: LiveSource }) {
  const answer = useQuery(`timeline ${id}`, (signal) => readTimeline(id, signal), {
    every: EVERY_MS,
    gapMs: GAP_MS,
    live,
  })
  return <Loaded answer={answer}>{(view) => <Calls view={view} {...span} />}</Loaded>
}

function Calls({ view, from, to }: Span & { view: TimelineView }) {
  const calls = useMemo(() => callsOf(view), [view])
  if (calls.length === 0)
    return (
      <Empty title="No task has been called">
        <p>Calls of tasks appear here as they happen.</p>
      </Empty>
    )
  return (
    <section class="card" aria-label="Calls of tasks">
      <div class="lane axis" aria-hidden="true">
        <span>{count(calls.length)} calls</span>
        <span class="ticks">
          {TICKS.map((part) => (
            <span key={part}>{duration((to - from) * part)}</span>
          ))}
        </span>
        <span>took</span>
      </div>
      <VirtualList
        items={calls}
        height={LANE_HEIGHT}
        label="Calls of tasks in the order in which they began"
        keyOf={({ seq }) => String(seq)}
        render={(call) => <Lane call={call} from={from} to={to} />}
      />
      {view.cut && <p class="stale">The log is longer: the first part of it is shown.</p>}
    </section>
  )
}

/** State of a call and how it came to it, in words. */
function wordsOf({ state, retries, isCached, isCompensated }: Call): string {
  return [
    WORDS[state],
    retries > 0 && `${retries} ${retries === 1 ? 'retry' : 'retries'}`,
    isCached && 'result was there',
    isCompensated && 'rolled back',
  ]
    .filter(Boolean)
    .join(', ')
}

function Lane({ call, from, to }: Span & { call: Call }) {
  const scale = (time: number) => ((time - from) / Math.max(1, to - from)) * WIDTH
  const end = call.to ?? Math.max(to, call.from)
  const x = scale(call.from)
  const width = Math.max(MIN_WIDTH, scale(end) - x)
  const words = wordsOf(call)
  return (
    <div class="lane">
      <span title={`entry ${call.seq}`} style={{ paddingLeft: `${call.depth * INDENT_PX}px` }}>
        <bdi>{call.name}</bdi> {words !== WORDS.completed && <span class="faint">{words}</span>}
      </span>
      <svg viewBox={`0 0 ${WIDTH} 14`} preserveAspectRatio="none" role="img" aria-label={words}>
        <rect class={`bar-${call.state}`} x={x} y="2" width={width} height="10">
          <title>{`${words}, ${duration(end - call.from)}`}</title>
        </rect>
      </svg>
      <Took ms={end - call.from} isOpen={call.to === undefined} />
    </div>
  )
}
