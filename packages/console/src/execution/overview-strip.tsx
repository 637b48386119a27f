import { useMemo } from 'preact/hooks'
import { count, duration } from '../format/time.ts'
import { Icon } from '../ui/icon.tsx'
import { Selection } from '../ui/selection.tsx'
import type { Call } from './calls.ts'
import { binsOf, dragged, moved, type Span, scaled, zoomByKey } from './zoom.ts'

const BINS = 200
const HEIGHT = 40
/** Diamonds of failures: half of their width and height. */
const FAILED = 3

interface Props {
  calls: readonly Call[]
  span: Span
  zoom: Span | undefined
  /** Shows another part of the time; undefined: all of it. */
  onZoom: (zoom: Span | undefined) => void
}

/** The whole time of the execution in a strip, in which the part that is shown can be chosen. */
export function OverviewStrip({ calls, span, zoom, onZoom }: Props) {
  const shown = zoom ?? span
  const length = Math.max(1, span.to - span.from)
  const since = (time: number) => duration(time - span.from)
  const words = `${since(shown.from)} to ${since(shown.to)} of ${duration(length)}`
  const byKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const changed = zoomByKey(event.key, shown, span)
    if (changed === undefined) return
    event.preventDefault()
    event.stopPropagation()
    onZoom(changed ?? undefined)
  }
  return (
    <div class="overview">
      <div
        class="strip"
        role="slider"
        tabIndex={0}
        aria-label="Time that is shown"
        aria-valuemin={0}
        aria-valuemax={length}
        aria-valuenow={Math.min(length, Math.max(0, Math.round(shown.from - span.from)))}
        aria-valuetext={words}
        aria-describedby="overview-keys"
        onKeyDown={byKey}
      >
        <Selection onSelect={(a, b) => onZoom(dragged(shown, span, a, b))}>
          <Bars calls={calls} span={span} shown={shown} />
        </Selection>
      </div>
      <div class="overview-actions">
        <span class="faint num">{words}</span>
        <Action label="Earlier" icon="left" onClick={() => onZoom(moved(shown, span, -1 / 2))} />
        <Action label="Later" icon="right" onClick={() => onZoom(moved(shown, span, 1 / 2))} />
        <Action label="Zoom in" icon="plus" onClick={() => onZoom(scaled(shown, span, 1 / 2))} />
        <Action label="Zoom out" icon="minus" onClick={() => onZoom(scaled(shown, span, 2))} />
        <button
          type="button"
          class="quiet"
          aria-label="Show all of the time"
          disabled={zoom === undefined}
          onClick={() => onZoom(undefined)}
        >
          Show all
        </button>
      </div>
      <p class="faint" id="overview-keys">
        Drag over the strip, or press its keys: arrows move, + and − zoom, 0 shows all.
      </p>
    </div>
  )
}

function Bars({ calls, span, shown }: { calls: readonly Call[]; span: Span; shown: Span }) {
  const bins = useMemo(() => binsOf(calls, span, BINS), [calls, span.from, span.to])
  const peak = Math.max(1, ...bins.map(({ active }) => active))
  const part = (time: number) =>
    ((Math.min(span.to, Math.max(span.from, time)) - span.from) /
      Math.max(1, span.to - span.from)) *
    BINS
  return (
    <svg viewBox={`0 0 ${BINS} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <title>{`at most ${count(peak)} calls at a time`}</title>
      <path class="strip-active" d={outline(bins.map(({ active }) => active / peak))} />
      <path class="strip-failed" d={diamonds(bins.map(({ failed }) => failed > 0))} />
      <path
        class="strip-hidden"
        d={`M0 0H${part(shown.from)}V${HEIGHT}H0zM${part(shown.to)} 0H${BINS}V${HEIGHT}H${part(shown.to)}z`}
      />
      <path
        class="strip-edge"
        d={`M${part(shown.from)} 0V${HEIGHT}M${part(shown.to)} 0V${HEIGHT}`}
      />
    </svg>
  )
}

/** One path for all bars, because a hundred rectangles would be as many elements. */
const outline = (heights: readonly number[]): string =>
  heights
    .map((height, i) =>
      height > 0 ? `M${i} ${HEIGHT}v${-height * (HEIGHT - 8)}h1V${HEIGHT}z` : '',
    )
    .join('')

const diamonds = (has: readonly boolean[]): string =>
  has
    .map((one, i) =>
      one
        ? `M${i + 0.5} 0l${FAILED / 2} ${FAILED}l${-FAILED / 2} ${FAILED}l${-FAILED / 2} ${-FAILED}z`
        : '',
    )
    .join('')

interface ActionProps {
  label: string
  icon: 'left' | 'right' | 'plus' | 'minus'
  onClick: () => void
}

const Action = ({ label, icon, onClick }: ActionProps) => (
  <button type="button" class="quiet" onClick={onClick}>
    <Icon name={icon} /> {label}
  </button>
)
