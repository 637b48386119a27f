/** The part of the time that a timeline shows. It is in the address as milliseconds since the begin: `1200-5400`. */

/** Milliseconds since 1970. */
export interface Span {
  from: number
  to: number
}

/** The shortest part that can be shown. */
const MIN_MS = 1
/** A drag over less of the width than this is a click. */
const CLICK_PART = 0.005

const lengthOf = ({ from, to }: Span) => to - from

/** A span of the same length within another one, or shorter if it does not fit. */
function within(span: Span, from: number, length: number): Span {
  const size = Math.min(Math.max(length, MIN_MS), Math.max(MIN_MS, lengthOf(span)))
  const first = Math.min(Math.max(from, span.from), Math.max(span.from, span.to - size))
  return { from: Math.round(first), to: Math.round(first) + Math.round(size) }
}

/** Reads the part of an address; undefined for the whole span, also if the text names no part of it. */
export function zoomOf(text: string | null, span: Span): Span | undefined {
  const [, a, b] = /^(\d{1,13})-(\d{1,13})$/.exec(text ?? '') ?? []
  if (a === undefined || b === undefined) return undefined
  const [from, to] = [span.from + Number(a), span.from + Number(b)]
  if (to <= from || from >= span.to) return undefined
  return { from, to: Math.min(to, Math.max(span.to, from + MIN_MS)) }
}

/** The text of an address; undefined for the whole span. */
export function zoomText(zoom: Span, span: Span): string | undefined {
  if (zoom.from <= span.from && zoom.to >= span.to) return undefined
  return `${Math.round(zoom.from - span.from)}-${Math.round(zoom.to - span.from)}`
}

/** A part that is as many times as long, around the same middle. */
export function scaled(zoom: Span, span: Span, factor: number): Span {
  const length = lengthOf(zoom) * factor
  return within(span, (zoom.from + zoom.to - length) / 2, length)
}

/** A part of the same length, moved by a share of it. */
export const moved = (zoom: Span, span: Span, share: number): Span =>
  within(span, zoom.from + lengthOf(zoom) * share, lengthOf(zoom))

/** The part between two places of the strip, from 0 to 1; a click moves the part that is shown there. */
export function dragged(zoom: Span, span: Span, a: number, b: number): Span {
  const at = (part: number) => span.from + lengthOf(span) * part
  if (Math.abs(b - a) >= CLICK_PART) {
    const from = at(Math.min(a, b))
    return within(span, from, at(Math.max(a, b)) - from)
  }
  return within(span, at(a) - lengthOf(zoom) / 2, lengthOf(zoom))
}

/** The part after a key: undefined if the key does nothing, null for the whole span. */
export function zoomByKey(key: string, zoom: Span, span: Span): Span | null | undefined {
  switch (key) {
    case '+':
    case '=':
      return scaled(zoom, span, 1 / 2)
    case '-':
      return scaled(zoom, span, 2)
    case 'ArrowLeft':
      return moved(zoom, span, -1 / 4)
    case 'ArrowRight':
      return moved(zoom, span, 1 / 4)
    case 'PageUp':
      return moved(zoom, span, -1)
    case 'PageDown':
      return moved(zoom, span, 1)
    case 'Home':
      return within(span, span.from, lengthOf(zoom))
    case 'End':
      return within(span, span.to, lengthOf(zoom))
    case '0':
      return null
    default:
      return undefined
  }
}

interface Timed {
  from: number
  to: number | undefined
  state: string
}

/** Calls of which a part lies in the time that is shown. */
export const callsWithin = <T extends Timed>(
  calls: readonly T[],
  zoom: Span | undefined,
): readonly T[] =>
  zoom
    ? calls.filter(({ from, to }) => from <= zoom.to && (to === undefined || to >= zoom.from))
    : calls

interface Bin {
  /** Most calls that run at one moment of the bin. */
  active: number
  /** Calls that ended in it and have failed. */
  failed: number
}

/** Order of what happens at one moment: a call that begins when another one ends does not overlap it. */
const KINDS = { end: 0, instant: 1, begin: 2 }
const KIND_COUNT = 3
/** Change of the number of calls that run, by kind. */
const CHANGES = [-1, 0, 1]

/** Begins and ends of calls in their order: milliseconds since the begin, times KIND_COUNT, plus the kind. */
function momentsOf(calls: readonly Timed[], start: number): Float64Array {
  const moments: number[] = []
  const add = (time: number, kind: number) =>
    moments.push(Math.max(0, Math.round(time - start)) * KIND_COUNT + kind)
  for (const { from, to } of calls)
    if (to !== undefined && to <= from) add(from, KINDS.instant)
    else {
      add(from, KINDS.begin)
      if (to !== undefined) add(to, KINDS.end)
    }
  return Float64Array.from(moments).sort()
}

/** Divides a span into equal parts, with the calls that ran at a time in each and those that failed. */
export function binsOf(calls: readonly Timed[], span: Span, count: number): Bin[] {
  const bins = Array.from({ length: count }, () => ({ active: 0, failed: 0 }))
  const scale = count / Math.max(MIN_MS, lengthOf(span))
  const binAt = (ms: number) => Math.min(count - 1, Math.max(0, Math.floor(ms * scale)))
  for (const { to = span.to, state } of calls) {
    const bin = bins[binAt(to - span.from)]
    if (bin && (state === 'failed' || state === 'rejected')) bin.failed++
  }
  countActive(bins, momentsOf(calls, span.from), binAt)
  return bins
}

/** Counts the calls that run at a time in each bin; `binAt` finds the bin of a moment. */
function countActive(bins: Bin[], moments: Float64Array, binAt: (ms: number) => number): void {
  let active = 0
  let next = 0
  /** Gives each bin up to one the calls that run when it begins. */
  const fill = (last: number) => {
    for (const bin of bins.slice(next, last + 1)) bin.active = active
    next = Math.max(next, last + 1)
  }
  for (const moment of moments) {
    const kind = moment % KIND_COUNT
    const at = binAt((moment - kind) / KIND_COUNT)
    fill(at)
    const bin = bins[at]
    if (bin && kind !== KINDS.end) bin.active = Math.max(bin.active, active + 1)
    active += CHANGES[kind] ?? 0
  }
  fill(bins.length - 1)
}
