import { describe, expect, test } from 'vitest'
import { runBooking } from './booking.ts'
import { consoleFixture, isWhole, LIMIT_MS } from './console-fixture.ts'
import { screensOf, seed } from './console-seed.ts'
import { contrastFlaws, hiddenFocus, textsBelowSeven } from './contrast-flaws.ts'
import { type FaultProxy, provideFaultProxy } from './fault-proxy.ts'
import type { WatchedPage } from './watched-page.ts'

let ids: Record<string, string> = {}
let booking = ''
let proxy: FaultProxy
const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async (auth) => {
    ids = await seed(auth)
    booking = await runBooking(auth)
  },
})
const { obstacle } = fixture

provideFaultProxy(fixture, (started) => {
  proxy = started
})

const THEMES = ['light', 'dark'] as const
const screens = () => [
  ...screensOf(ids),
  ['executions?state=FAILED', 'Executions'] as const,
  [`executions/${booking}?tab=timeline&zoom=0-100`, 'booking'] as const,
]

/** Visits screens; returns the flaws of those that have any, by their address. */
async function flawsOf(
  one: WatchedPage,
  visited: readonly (readonly [path: string, heading: string])[],
  check: (page: WatchedPage['page']) => Promise<string[]>,
): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [path, heading] of visited) {
    await one.visit(path, heading)
    const flaws = await check(one.page)
    if (flaws.length > 0) found[path] = flaws
  }
  return found
}

const animations = ({ page }: WatchedPage) =>
  page.evaluate<number>('document.getAnimations().length')

describe.skipIf(obstacle)(`contrast and motion${obstacle ? `: ${obstacle}` : ''}`, () => {
  test.each(THEMES)(
    'colours of the system, %s: choices, bars and parts of pictures differ, texts can be read',
    async (colorScheme) => {
      const one = await fixture.open(fixture.auth.admin, { forcedColors: 'active', colorScheme })
      const check = async (page: WatchedPage['page']) => [
        ...(await contrastFlaws(page)),
        ...(await one.findings()),
      ]
      expect(await flawsOf(one, screens(), check)).toEqual({})
    },
    LIMIT_MS,
  )

  test(
    'colours of the system: the focus is seen on each kind of control',
    async () => {
      const one = await fixture.open(fixture.auth.admin, { forcedColors: 'active' })
      const some = [
        ['executions?counts=1', 'Executions'],
        [`executions/${ids.checkout}?tab=timeline`, 'checkout'],
        [`schedules/${ids.nightly}`, 'nightly <i>'],
        ['audit', 'Audit'],
        ['settings', 'Settings'],
      ] as const
      expect(await flawsOf(one, some, hiddenFocus)).toEqual({})
    },
    LIMIT_MS,
  )

  test('colours of the system: the chosen line of the palette differs', async () => {
    const { page } = await fixture.open(fixture.auth.admin, { forcedColors: 'active' })
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Home screen', selected: true }).waitFor()
    expect(await contrastFlaws(page)).toEqual([])
  })

  test.each(THEMES)(
    'more contrast, %s: texts have 7:1 and parts of pictures 3:1',
    async (colorScheme) => {
      const one = await fixture.open(fixture.auth.admin, { contrast: 'more', colorScheme })
      const check = async (page: WatchedPage['page']) => [
        ...(await contrastFlaws(page)),
        ...(await textsBelowSeven(page)),
      ]
      expect(await flawsOf(one, screens(), check)).toEqual({})
    },
    LIMIT_MS,
  )

  test.each([
    ['reduce', 0],
    ['no-preference', 1],
  ] as const)(
    'motion %s, while a screen is read: %d or more move',
    async (reducedMotion, least) => {
      const one = await fixture.open(fixture.auth.admin, { reducedMotion, baseURL: proxy.url })
      proxy.fault = ({ path }) => (path.startsWith('/workflows') ? 'held' : undefined)
      await one.goto('workflows')
      await one.page.getByLabel('Loading').waitFor()
      const moving = await animations(one)
      proxy.fault = () => undefined
      proxy.breakAll()
      if (least === 0) expect(moving).toBe(0)
      else expect(moving).toBeGreaterThanOrEqual(least)
    },
  )
})
