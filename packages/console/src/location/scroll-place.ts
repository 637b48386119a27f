/**
 * The place that a screen was scrolled to, so that going back shows it there again.
 *
 * Parts of a screen are read one after the other, and those above a list (a chart, groups, counts) may by then have
 * another height, so a number of pixels from the top is not enough. The first row in view is remembered with its
 * place in the window, and is held there until the user does something or all parts have had time to arrive.
 */
export interface ScrollPlace {
  /** Pixels by which the content was scrolled. */
  top: number
  /** The first row in view, and its distance from the top of the content, in pixels. */
  row?: { id: string; offset: number } | undefined
}

const topOf = (element: Element) => element.getBoundingClientRect().top

/** Returns where the content is scrolled to. A row has its id in the attribute `data-row`. */
export function readScrollPlace(content: Element): ScrollPlace {
  const { scrollTop: top } = content
  if (top === 0) return { top }
  const frame = topOf(content)
  for (const row of content.querySelectorAll<HTMLElement>('[data-row]')) {
    const box = row.getBoundingClientRect()
    if (box.bottom > frame)
      return { top, row: { id: row.dataset.row ?? '', offset: box.top - frame } }
  }
  return { top }
}

/** Scrolls to a place; false if the content may still change in a way that needs another call. */
function scrollTo(content: Element, { top, row }: ScrollPlace): boolean {
  const held = row && content.querySelector(`[data-row="${CSS.escape(row.id)}"]`)
  const by = held ? topOf(held) - topOf(content) - row.offset : top - content.scrollTop
  if (Math.abs(by) >= 1) content.scrollTop += by
  return row === undefined && Math.abs(content.scrollTop - top) < 1
}

/** Time in which the parts of a screen arrive. */
const HOLD_MS = 10_000
const ACTS = ['wheel', 'touchstart', 'pointerdown', 'keydown']

/** Keeps the content at a place until the user does something; the returned function ends that. */
export function holdScrollPlace(content: Element, place: ScrollPlace): () => void {
  const until = performance.now() + HOLD_MS
  let frame = 0
  const stop = () => {
    cancelAnimationFrame(frame)
    for (const act of ACTS) window.removeEventListener(act, stop, true)
  }
  const step = () => {
    if (scrollTo(content, place) || performance.now() > until) stop()
    else frame = requestAnimationFrame(step)
  }
  for (const act of ACTS) window.addEventListener(act, stop, { capture: true, passive: true })
  step()
  return stop
}
