import { useMemo } from 'preact/hooks'
import { readTimeline, type TimelineView } from '../api/timeline.ts'
import { type Answer, useQuery } from '../api/use-query.ts'
import { hasEnded } from '../format/states.ts'
import { count, duration } from '../format/time.ts'
import type { LiveSource } from '../live/live-source.ts'
import { changed, executionAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { useMedia } from '../ui/use-media.ts'
import { VirtualList } from '../ui/virtual-list.tsx'
import { CallTable } from './call-table.tsx'
import { marksOf } from './call-words.ts'
import { callsOf } from './calls.ts'
import { Lane } from './lane.tsx'
import { MARKS, MarkLegend, type MarkName } from './lane-marks.tsx'
import { OverviewStrip } from './overview-strip.tsx'
import { callsWithin, type Span, zoomOf, zoomText } from './zoom.ts'

const EVERY_MS = 5_000
/** The timeline of a long log is a megabyte: it is not read for each of its events. */
const GAP_MS = 1_000
const TICKS = [0, 0.25, 0.5, 0.75, 1]
/** Heights in rem, of which one has 13 pixels unless the browser says otherwise. */
const LANE_HEIGHT = 28 / 13
/** Where the bars of a call are below its name (screens.css). */
const NARROW_LANE_HEIGHT = 48 / 13
const NARROW = '(max-width: 37.5em)'

/** The size of the text may be set in the browser. */
const pixelsOf = (rem: number): number =>
  Math.round(rem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize))

interface Props extends Span {
  id: string
  state: string
  query: URLSearchParams
  live: LiveSource
}

/** The calls of tasks over the time of the execution; the part that is shown is in the address. */
export function TimelineTab({ id, state, query, live, ...span }: Props) {
  const answer = useTimeline(id, live)
  return (
    <Loaded answer={answer}>{(view) => <Calls {...{ id, state, view, query, span }} />}</Loaded>
  )
}

/** The timeline of an execution; no id: nothing is read. */
export const useTimeline = (id: string | undefined, live: LiveSource): Answer<TimelineView> =>
  useQuery(id && `timeline ${id}`, (signal) => readTimeline(id ?? '', signal), {
    every: EVERY_MS,
    gapMs: GAP_MS,
    live,
  })

interface CallsProps {
  id: string
  state: string
  view: TimelineView
  query: URLSearchParams
  span: Span
}

function Calls({ id, state, view, query, span }: CallsProps) {
  const calls = useMemo(() => callsOf(view), [view])
  const isNarrow = useMedia(NARROW)
  const text = query.get('zoom')
  const zoom = zoomOf(text, span)
  // The end of a part moves with the time only while all of it is shown.
  const shown = useMemo(() => callsWithin(calls, zoom), [calls, zoom?.from, zoom?.to])
  const names = useMemo(() => marksIn(calls), [calls])
  if (calls.length === 0)
    return (
      <Empty title="No task has been called">
        {!hasEnded(state) && <p>Calls of tasks appear here as they happen.</p>}
      </Empty>
    )
  const { from, to } = zoom ?? span
  const change = (values: Record<string, string | undefined>) =>
    navigate(changed(executionAddress(id), query, { tab: 'timeline', ...values }), {
      replace: true,
    })
  const show = (part: Span | undefined) => change({ zoom: part && zoomText(part, span) })
  return (
    <section class="card" aria-label="Calls of tasks">
      <OverviewStrip calls={calls} span={span} zoom={zoom} onZoom={show} />
      <div class="lane axis" aria-hidden="true">
        <span>
          {zoom
            ? `${count(shown.length)} of ${count(calls.length)} calls`
            : `${count(calls.length)} ${calls.length === 1 ? 'call' : 'calls'}`}
        </span>
        <span class="ticks">
          {TICKS.map((part) => (
            <span key={part}>{duration(from - span.from + (to - from) * part)}</span>
          ))}
        </span>
        <span>took</span>
      </div>
      {shown.length === 0 && <Empty title="No call in this part of the time" />}
      <VirtualList
        items={shown}
        height={pixelsOf(isNarrow ? NARROW_LANE_HEIGHT : LANE_HEIGHT)}
        label="Calls of tasks in the order in which they began"
        keyOf={({ seq }) => String(seq)}
        render={(call) => <Lane call={call} base={span.from} now={span.to} from={from} to={to} />}
      />
      {names.length > 0 && <MarkLegend names={names} />}
      <CallTable
        calls={shown}
        base={span.from}
        now={span.to}
        isOpen={query.get('table') === '1'}
        onToggle={(isOpen) => change({ table: isOpen ? '1' : undefined })}
      />
      {view.cut && <p class="stale">The log is longer: the first part of it is shown.</p>}
    </section>
  )
}

/** Marks that occur, in the order of the legend. */
function marksIn(calls: ReturnType<typeof callsOf>): MarkName[] {
  const found = new Set<MarkName>(calls.flatMap((call) => (hasMark(call) ? marksOf(call) : [])))
  if (calls.some(({ marks }) => marks.length > 0)) found.add('failed')
  return (Object.keys(MARKS) as MarkName[]).filter((name) => found.has(name))
}

/** Most calls have none: no list is made for them. */
const hasMark = (call: ReturnType<typeof callsOf>[number]): boolean =>
  call.retries > 0 ||
  call.isCached ||
  call.hasFallback ||
  call.rollback !== undefined ||
  call.isCompensated ||
  call.isCompensating
