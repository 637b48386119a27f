// Runs in the page of a test, which evaluates this text: it finds what is lost with the colours of the system. Each flaw is one line.

const MARKED = '[aria-current], [aria-selected="true"], [aria-pressed="true"]'
/** Properties that show a mark where backgrounds of the page and its shadows do not. */
const SHOWING = [
  ...['backgroundColor', 'color', 'borderBottomColor', 'borderBottomStyle', 'borderBottomWidth'],
  ...['outlineStyle', 'textDecorationLine', 'fontWeight'],
]
const PARTS = 'main svg :is(rect, path, circle, line)'
/** Shades that lie over a picture, and lines that only lead the eye. */
const SHADES = '.strip-hidden, .between, .track, .cut, .dragged *'
/** WCAG 1.4.11. */
const RATIO = 3

const isSeen = (element) => element.checkVisibility({ visibilityProperty: true })
const lookOf = (element) => {
  const style = getComputedStyle(element)
  return SHOWING.map((name) => style[name]).join(' ')
}

/** Chosen entries that look like the others of their list. */
function findMarksLikeOthers() {
  return [...document.querySelectorAll(MARKED)].filter(isSeen).flatMap((marked) => {
    const list = marked.closest('nav, [role="listbox"]') ?? marked.parentElement
    const others = [...list.querySelectorAll(marked.tagName)].filter(
      (other) => isSeen(other) && !other.matches(MARKED) && other.className === marked.className,
    )
    return others.some((other) => lookOf(other) === lookOf(marked))
      ? [`looks like those that are not chosen: ${marked.textContent.trim()}`]
      : []
  })
}

const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })

/** Red, green and blue of colours that are drawn over each other. */
function paint(colours) {
  for (const colour of colours) {
    pixel.fillStyle = colour
    pixel.fillRect(0, 0, 1, 1)
  }
  return pixel.getImageData(0, 0, 1, 1).data
}

function luminanceOf([r, g, b]) {
  const [x, y, z] = [r, g, b].map((value) => {
    const part = value / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * x + 0.7152 * y + 0.0722 * z
}

/** Contrast of a colour with what is behind it. */
function ratioOf(colour, ground) {
  const [light, dark] = [luminanceOf(paint([...ground, colour])), luminanceOf(paint(ground))].sort(
    (x, y) => y - x,
  )
  return (light + 0.05) / (dark + 0.05)
}

/** The colours behind an element, the lowest first. */
function groundOf(element) {
  const found = []
  for (let at = element.parentElement; at; at = at.parentElement)
    found.unshift(getComputedStyle(at).backgroundColor)
  return found
}

/** Parts of pictures that do not stand out from what is behind them. */
function findFaintParts() {
  const parts = [...document.querySelectorAll(PARTS)]
  const flaws = parts
    .filter((part) => isSeen(part) && !part.matches(SHADES))
    .flatMap((part) => {
      const { fill, stroke } = getComputedStyle(part)
      const ground = groundOf(part)
      const best = Math.max(
        ...[fill, stroke].filter((one) => one !== 'none').map((one) => ratioOf(one, ground)),
      )
      return best < RATIO ? [`faint: ${part.getAttribute('class')} ${best.toFixed(1)}`] : []
    })
  return [...new Set(flaws)]
}

/** Bars of one legend that look alike. */
function findBarsAlike() {
  return [...document.querySelectorAll('.legend')].flatMap((legend) => {
    const looks = new Map()
    for (const bar of legend.querySelectorAll('rect')) {
      const { fill, stroke, strokeDasharray } = getComputedStyle(bar)
      const look = [fill, stroke, stroke === 'none' ? '' : strokeDasharray].join(' ')
      looks.set(look, [...(looks.get(look) ?? []), bar.getAttribute('class')])
    }
    return [...looks.values()].filter(({ length }) => length > 1).map((all) => `alike: ${all}`)
  })
}

/** The control with the focus, if nothing shows it. */
function findHiddenFocus() {
  const control = document.activeElement
  if (!control || control === document.body) return 'end'
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(control)
  const isShown =
    outlineStyle !== 'none' &&
    Number.parseFloat(outlineWidth) >= 1 &&
    ratioOf(outlineColor, groundOf(control)) >= RATIO
  return isShown ? '' : `${control.tagName} "${control.textContent.trim().slice(0, 40)}"`
}

globalThis.contrastFlaws = {
  all: () => [...findMarksLikeOthers(), ...findFaintParts(), ...findBarsAlike()],
  focus: findHiddenFocus,
}
