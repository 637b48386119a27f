import { expect } from 'vitest'
import { coveredControl, layoutFlaws } from './page-flaws.ts'
import { spokenFlaws } from './spoken-flaws.ts'
import type { WatchedPage } from './watched-page.ts'

interface AccessibleWindow {
  name: string
  width: number
  height: number
  /** Size of the text of the browser's settings, of which 16 pixels are the default. */
  textPx?: number
  /** With the distances between lines, words and letters that WCAG 1.4.12 names. */
  isSpaced?: boolean
}

/** A window whose zoom is z shows 1/z of the pixels. */
const WINDOWS: readonly AccessibleWindow[] = [
  { name: '100 %', width: 1_280, height: 800 },
  { name: '200 % zoom', width: 640, height: 400 },
  { name: '400 % zoom', width: 320, height: 256 },
  { name: '200 % text', width: 1_280, height: 800, textPx: 32 },
  { name: '200 % text, 320 pixels', width: 320, height: 800, textPx: 32 },
  { name: 'spaced text', width: 1_280, height: 800, isSpaced: true },
]
const DEFAULT_TEXT_PX = 16
const MONOSPACE_RATIO = 13 / 16

/** Sets the size of the text as the settings of the browser do. */
async function setTextSize({ page }: WatchedPage, standardPx: number): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const fixed = Math.round(standardPx * MONOSPACE_RATIO)
  await session.send('Page.setFontSizes', { fontSizes: { standard: standardPx, fixed } })
  await session.detach()
}

const SPACING =
  '* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-bottom: 2em !important }'

const setSpacing = ({ page }: WatchedPage, isSpaced: boolean) =>
  page.evaluate(`(() => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(${JSON.stringify(isSpaced ? SPACING : '')})
    document.adoptedStyleSheets = [sheet]
  })()`)

/** Runs a check in each window, and returns to the first. Each flaw says in which window it is. */
export async function inEachWindow(
  one: WatchedPage,
  check: () => Promise<string[]>,
): Promise<string[]> {
  const flaws: string[] = []
  for (const { name, width, height, textPx = DEFAULT_TEXT_PX, isSpaced = false } of WINDOWS) {
    await one.page.setViewportSize({ width, height })
    await setTextSize(one, textPx)
    await setSpacing(one, isSpaced)
    flaws.push(...(await check()).map((flaw) => `${name}: ${flaw}`))
  }
  const [{ width, height } = { width: 1_280, height: 800 }] = WINDOWS
  await one.page.setViewportSize({ width, height })
  await setTextSize(one, DEFAULT_TEXT_PX)
  await setSpacing(one, false)
  return flaws
}

/** Flaws of the open page by sight in each window, and by ear. */
export const flawsOfPage = async (one: WatchedPage): Promise<string[]> => [
  ...(await one.findings()),
  ...(await inEachWindow(one, () => layoutFlaws(one.page))),
  ...(await spokenFlaws(one.page)),
]

/** Visits screens one after the other; returns the flaws of those that have any, by their address. */
export async function flawsOfScreens(
  one: WatchedPage,
  screens: readonly (readonly [path: string, heading: string | RegExp])[],
): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [path, heading] of screens) {
    await one.visit(path, heading)
    const flaws = await flawsOfPage(one)
    if (flaws.length > 0) found[path] = flaws
  }
  return found
}

const MAX_TABS = 200

/** Controls that Tab reaches and that are wholly covered while they have the focus; ends where the focus leaves the page. */
export async function coveredFocus({ page }: WatchedPage): Promise<string[]> {
  await page.locator('main').focus()
  const flaws: string[] = []
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    await page.keyboard.press('Tab')
    const covered = await coveredControl(page)
    if (covered === 'end') return flaws
    if (covered) flaws.push(covered)
  }
  throw new Error(`the focus does not leave the page after ${MAX_TABS} tabs`)
}

/** Texts that were announced to screen readers since the start of the watch. */
export async function watchAnnounced({
  page,
}: Pick<WatchedPage, 'page'>): Promise<() => Promise<string[]>> {
  await page.evaluate(`(() => {
    const region = document.getElementById('announced')
    window.announced = []
    new MutationObserver(() => window.announced.push(region.textContent))
      .observe(region, { childList: true, characterData: true, subtree: true })
  })()`)
  return () => page.evaluate<string[]>('window.announced')
}

/** Waits until a text was announced. */
export const expectAnnounced = (announced: () => Promise<string[]>, text: string) =>
  expect.poll(announced).toContainEqual(expect.stringContaining(text))
