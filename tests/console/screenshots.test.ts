import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { startAuthSystem } from '../security/auth-system.ts'
import { launch, whyNoBrowser } from '../security/chromium.ts'
import { runBooking } from './booking.ts'
import { screensOf, seed } from './console-seed.ts'
import { WatchedPage } from './watched-page.ts'

const FOLDER = fileURLToPath(new URL('../../docs/console/', import.meta.url))
const SHOWN: [name: string, index: RegExp, theme: 'light' | 'dark'][] = [
  ['home', /^$/, 'light'],
  ['executions', /^executions$/, 'dark'],
  ['failed', /^executions\/\w+$/, 'light'],
  ['compare', /^compare\/\w+\/\w+$/, 'dark'],
  ['forecast', /^schedules\?tab=forecast$/, 'light'],
  ['audit', /^audit$/, 'dark'],
  ['timeline', /^executions\/\w+\?tab=timeline$/, 'light'],
  ['source', /^executions\/\w+\?tab=source&version=1&line=16$/, 'dark'],
  ['why', /^executions\/\w+\?tab=why$/, 'light'],
]
const SETTLE_MS = 4_000
/** Limit of a test that hangs. */
const LIMIT_MS = 600_000
const isWanted = process.env.TEST_SCREENSHOTS === '1' && whyNoBrowser() === undefined

const undo: (() => unknown)[] = []
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

// The pictures of docs/console.md are made again on request: their times differ with each run.
test.skipIf(!isWanted)(
  'TEST_SCREENSHOTS=1: writes the pictures of docs/console.md',
  async () => {
    const auth = await startAuthSystem((one) => void undo.push(one), {
      workers: 1,
      singleProcess: false,
    })
    const ids = await seed(auth)
    const browser = await launch('unused.example')
    undo.push(() => browser.close())
    mkdirSync(FOLDER, { recursive: true })
    const booking = await runBooking(auth)
    const screens: ReturnType<typeof screensOf> = [
      ...screensOf(ids),
      [`executions/${booking}?tab=timeline`, 'booking'],
      [`executions/${booking}?tab=source&version=1&line=16`, 'booking'],
      [`executions/${ids.greet}?tab=why`, 'greet'],
    ]
    for (const [name, address, colorScheme] of SHOWN) {
      const one = await WatchedPage.open(browser, auth.system.gateways[0] ?? '', {
        colorScheme,
        viewport: { width: 1_200, height: 720 },
      })
      await one.signIn(auth.admin)
      const [path = '', heading = ''] = screens.find(([at]) => address.test(at)) ?? []
      await one.visit(path, heading)
      // Numbers have a dash in their place until they are read.
      await one.page.waitForTimeout(SETTLE_MS)
      await one.page.screenshot({ path: `${FOLDER}${name}.png` })
      expect(one.problems).toEqual([])
      await one.close()
    }
  },
  LIMIT_MS,
)
