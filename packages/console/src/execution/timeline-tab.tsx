import { useMemo } from 'preact/hooks'
import type { LogEvent } from '../exact/execution.ts'
import { duration } from '../format/time.ts'
import { Empty } from '../ui/feedback.tsx'
import { Took } from '../ui/times.tsx'
import { VirtualList } from '../ui/virtual-list.tsx'
import { type Call, type CallState, callsOf } from './calls.ts'

const WIDTH = 1_000
const MIN_WIDTH = 3
const TICKS = [0, 0.25, 0.5, 0.75, 1]
const LANE_HEIGHT = 28

const WORDS: Record<CallState, string> = {
  running: 'running',
  completed: 'completed',
  failed: 'failed',
  paused: 'paused',
  awaiting: 'waits for approval',
  rejected: 'rejected',
}

interface Props {
  events: readonly LogEvent[]
  from: number
  to: number
}

/** The calls of tasks over the time of the execution. */
export function TimelineTab({ events, from, to }: Props) {
  const calls = useMemo(() => callsOf(events), [events])
  if (calls.length === 0)
    return (
      <Empty title="No task has been called">
        <p>Calls of tasks appear here as they happen.</p>
      </Empty>
    )
  return (
    <section class="card" aria-label="Calls of tasks">
      <div class="lane axis" aria-hidden="true">
        <span>{calls.length} calls</span>
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
        keyOf={({ id }) => id}
        render={(call) => <Lane call={call} from={from} to={to} />}
      />
    </section>
  )
}

function Lane({ call, from, to }: { call: Call; from: number; to: number }) {
  const scale = (time: number) => ((time - from) / Math.max(1, to - from)) * WIDTH
  const end = call.to ?? to
  const x = scale(call.from)
  const width = Math.max(MIN_WIDTH, scale(end) - x)
  const tries = call.tries.filter(({ what }) => what === 'retry').length
  const words = `${WORDS[call.state]}${tries > 0 ? `, ${tries} ${tries === 1 ? 'retry' : 'retries'}` : ''}`
  return (
    <div class="lane">
      <span title={call.id}>
        <bdi>{call.name}</bdi> {call.state !== 'completed' && <span class="faint">{words}</span>}
      </span>
      <svg viewBox={`0 0 ${WIDTH} 14`} preserveAspectRatio="none" role="img" aria-label={words}>
        <rect class={`bar-${call.state}`} x={x} y="2" width={width} height="10">
          <title>{`${words}, ${duration(end - call.from)}`}</title>
        </rect>
        {call.tries.map(({ at, what }) => (
          <rect key={`${what}${at}`} class="mark" x={scale(at)} y="0" width="2" height="14">
            <title>{what}</title>
          </rect>
        ))}
      </svg>
      <Took ms={end - call.from} isOpen={call.to === undefined} />
    </div>
  )
}
