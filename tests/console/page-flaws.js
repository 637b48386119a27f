// Runs in the page of a test, which evaluates this text: it finds what a reader loses there. Each flaw is one line.

/** Texts that are shown whole elsewhere: in the table of the calls, and in the execution. */
const SHORT = '.visually-hidden, .skip, .lane > :first-child, .error-line'
const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
const TEXT_NODES = 4

const isSeen = (element) => element.checkVisibility({ visibilityProperty: true })
const shorten = (text) => text.trim().slice(0, 40)

/** The texts that are drawn, each with its element and its box. */
function listTexts() {
  const found = []
  const walker = document.createTreeWalker(document.documentElement, TEXT_NODES)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement
    if (!node.nodeValue.trim() || !isSeen(element)) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    found.push({ text: shorten(node.nodeValue), element, range })
  }
  return found
}

/** The innermost element that makes a part of the page wider than the window. */
function findWidest(part, width) {
  const end = width - Number.parseFloat(getComputedStyle(part).paddingRight)
  const isWide = (element) => {
    const range = document.createRange()
    range.selectNodeContents(element)
    return (
      Math.max(element.getBoundingClientRect().right, range.getBoundingClientRect().right) > end + 1
    )
  }
  const isInFrame = (element) => {
    for (let at = element.parentElement; at && at !== part; at = at.parentElement)
      if (scrolls(getComputedStyle(at).overflowX)) return true
    return false
  }
  const all = [...part.querySelectorAll('*')].filter((one) => isWide(one) && !isInFrame(one))
  const inner = all.filter((one) => !all.some((other) => one !== other && one.contains(other)))
  return inner.map((one) => `${nameOf(one)}.${one.getAttribute('class')}`).join(', ')
}

function findWideContent() {
  const width = document.documentElement.clientWidth
  const parts = [document.documentElement, ...document.querySelectorAll('main, dialog[open]')]
  return parts
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > Math.min(width, clientWidth) + 1)
    .map((part) => `wide: ${part.tagName} needs ${part.scrollWidth} for ${findWidest(part, width)}`)
}

/** Frames other than those of tables and of lines of text that have to be scrolled sideways. */
function findSidewaysFrames() {
  return [...document.querySelectorAll('body *')]
    .filter((element) => isSeen(element) && scrolls(getComputedStyle(element).overflowX))
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .filter((element) => !element.matches('pre') && !element.querySelector(':scope > table'))
    .map((element) => `scrolls sideways: ${element.tagName}.${element.className}`)
}

const hides = (overflow) => overflow === 'hidden' || overflow === 'clip'
const scrolls = (overflow) => overflow === 'auto' || overflow === 'scroll'

/** True if an element cuts off a part of this box. */
function cuts(element, text) {
  const { overflowX, overflowY } = getComputedStyle(element)
  const { left, right, top, bottom } = element.getBoundingClientRect()
  const isWide = text.right > right + 1 || text.left < left - 1
  const isHigh = text.bottom > bottom + 2 || text.top < top - 2
  return (hides(overflowX) && isWide) || (hides(overflowY) && isHigh)
}

/** The ancestor that cuts a text off without a way to scroll to it, or undefined. */
function findCutter({ element, range }) {
  const text = range.getBoundingClientRect()
  for (let at = element; at; at = at.parentElement) {
    const { overflowX, display } = getComputedStyle(at)
    if (display === 'inline' || display === 'contents') continue
    if (cuts(at, text)) return at
    if (scrolls(overflowX)) return undefined
  }
  return undefined
}

function findCutTexts() {
  return listTexts()
    .filter(({ element }) => !element.closest(SHORT))
    .flatMap((one) => {
      const cutter = findCutter(one)
      return cutter ? [`cut: "${one.text}" by ${cutter.tagName}.${cutter.className}`] : []
    })
}

/** True for what is drawn over the page on purpose. */
function isOver(element) {
  for (let at = element; at; at = at.parentElement)
    if (['absolute', 'fixed', 'sticky'].includes(getComputedStyle(at).position)) return true
  return false
}

/** True if two lines share more than their leading. */
function isOverlap(a, b) {
  const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left)
  const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
  return wide > 2 && high > Math.min(a.height, b.height) / 3
}

/** A line as it is drawn: a text that is shortened ends with its element, and Firefox gives the box of all of it. */
function drawnBox({ left, top, right, height }, element) {
  const end = element.closest(SHORT)?.getBoundingClientRect().right ?? right
  return new DOMRect(left, top, Math.max(0, Math.min(right, end) - left), height)
}

function findOverlappingTexts() {
  const lines = listTexts()
    .filter(({ element }) => !element.closest('svg, select, .visually-hidden') && !isOver(element))
    .flatMap((one) =>
      Array.from(one.range.getClientRects(), (box) => ({
        ...one,
        box: drawnBox(box, one.element),
      })),
    )
  return lines.flatMap((a, i) =>
    lines
      .slice(i + 1)
      .filter((b) => isOverlap(a.box, b.box))
      .filter((b) => !(a.element.contains(b.element) || b.element.contains(a.element)))
      .map((b) => `overlap: "${a.text}" and "${b.text}"`),
  )
}

function nameOf(control) {
  const text = control.getAttribute('aria-label') ?? control.textContent ?? ''
  return `${control.tagName} "${shorten(text)}"`
}

/** Why a control cannot be pressed after it was scrolled to, or nothing. */
function findObstacle(control) {
  control.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
  const [box] = control.getClientRects()
  if (!box) return []
  const { clientWidth, clientHeight } = document.documentElement
  const x = (Math.max(0, box.left) + Math.min(clientWidth, box.right)) / 2
  const y = (Math.max(0, box.top) + Math.min(clientHeight, box.bottom)) / 2
  const hit = document.elementFromPoint(x, y)
  if (box.right <= 0 || box.left >= clientWidth || !hit) return [`unreachable: ${nameOf(control)}`]
  if (control.contains(hit) || hit.contains(control)) return []
  return [`covered: ${nameOf(control)} by ${hit.tagName}.${hit.getAttribute('class')}`]
}

function findUnreachableControls() {
  const scope = document.querySelector('dialog[open]') ?? document
  const flaws = [...scope.querySelectorAll(CONTROLS)]
    .filter((control) => isSeen(control) && !control.matches('.skip, .visually-hidden'))
    .flatMap(findObstacle)
  document.querySelector('main')?.scrollTo(0, 0)
  return flaws
}

function findTableFlaws() {
  return [...document.querySelectorAll('table')].filter(isSeen).flatMap((table) => {
    const heads = [...table.querySelectorAll('th')]
    if (heads.length === 0) return [`table without heads: ${shorten(table.textContent)}`]
    return heads
      .filter((head) => !head.getAttribute('scope'))
      .map((head) => `head without scope: ${shorten(head.textContent)}`)
  })
}

const findChartFlaws = () =>
  [...document.querySelectorAll('figure.chart')]
    .filter((chart) => !chart.querySelector('table'))
    .map((chart) => `chart without a table: ${shorten(chart.textContent)}`)

const findPictureFlaws = () =>
  [...document.querySelectorAll('svg')]
    .filter((picture) => isSeen(picture) && !picture.closest('[aria-hidden="true"]'))
    .filter((picture) => picture.getAttribute('role') !== 'img' || !picture.ariaLabel)
    .map((picture) => `picture without a text: ${picture.outerHTML.slice(0, 80)}`)

/** A control with the focus of which no part can be seen; empty if it can, and `end` outside of the page. */
function findCoveredFocus() {
  const control = document.activeElement
  if (!control || control === document.body) return 'end'
  const box = control.getClientRects()[0] ?? control.getBoundingClientRect()
  const parts = [0.1, 0.5, 0.9]
  const isShown = parts.some((right) =>
    parts.some((down) => {
      const hit = document.elementFromPoint(
        box.left + box.width * right,
        box.top + box.height * down,
      )
      return hit !== null && (control.contains(hit) || hit.contains(control))
    }),
  )
  return isShown ? '' : nameOf(control)
}

globalThis.pageFlaws = {
  seen: () => [
    ...findWideContent(),
    ...findSidewaysFrames(),
    ...findCutTexts(),
    ...findOverlappingTexts(),
    ...findUnreachableControls(),
  ],
  heard: () => [...findTableFlaws(), ...findChartFlaws(), ...findPictureFlaws()],
  focus: findCoveredFocus,
}
