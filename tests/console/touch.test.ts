import { describe, expect, test } from 'vitest'
import { consoleFixture, isWhole, LIMIT_MS } from './console-fixture.ts'
import { seed } from './console-seed.ts'
import { TouchUser } from './touch-user.ts'
import type { WatchedPage } from './watched-page.ts'

const WIDTHS = [320, 360, 412]
let ids: Record<string, string> = {}
const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async (auth) => {
    ids = await seed(auth)
  },
})
const { obstacle } = fixture

type Page = WatchedPage['page']
type Task = (user: TouchUser, one: WatchedPage) => Promise<void>

const main = (page: Page) => page.getByRole('main')
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const link = (page: Page, name: string | RegExp) =>
  main(page).getByRole('link', { name, exact: true })
const rowOf = (page: Page, id: string) => page.locator(`[data-row="${id}"]`)

async function start(name: string, input: unknown = null): Promise<string> {
  const run = `POST /workflows/default/${name}/run/async`
  return (await fixture.auth.requestOk(run, { body: input })).execution_id ?? ''
}

const stateOf = async (id: string) => (await fixture.auth.requestOk(`GET /executions/${id}`)).state

const phone = (width: number) => ({
  ...{ hasTouch: true, isMobile: true, viewport: { width, height: 740 } },
})

const SCREENS = [
  ...['Executions', 'Workflows', 'Queue', 'Approvals', 'Schedules', 'Workers', 'Secrets'],
  ...['Configs', 'Access', 'Audit', 'Settings', 'Home'],
]

const TASKS: [name: string, task: Task][] = [
  [
    'open each screen with the menu',
    async (user, { page }) => {
      for (const name of SCREENS) {
        await user.go(name)
        expect(await button(page, 'Menu').getAttribute('aria-expanded')).toBe('false')
      }
    },
  ],
  [
    'filter, and open an execution by its row',
    async (user, { page }) => {
      await user.go('Executions')
      await user.tap(page.getByRole('navigation', { name: 'State' }).getByText('Failed'))
      await page.waitForURL(/state=FAILED/)
      await user.fill(page.getByLabel('Workflow', { exact: true }), 'checkout')
      await page.waitForURL(/workflow_name=checkout/)
      await user.tap(page.getByText('More filters'))
      await user.fill(page.getByLabel('Error has'), 'card declined')
      await page.waitForURL(/error=card/)
      await user.tap(rowOf(page, ids.checkout ?? '').getByText('Failed'))
      await user.heading('checkout')
      for (const [tab, shown] of [
        ['Log', /^WORKFLOW_FAILED$/],
        ['Input and output', /^Copy as a command/],
        ['Source', /^\d+ lines$/],
        ['Timeline', /^1 call$/],
      ] as const) {
        await user.tap(link(page, tab))
        await main(page).getByText(shown).first().waitFor()
      }
    },
  ],
  [
    'cancel, and answer the question before',
    async (user, { page, goto }) => {
      const id = await start('greet', 'Ada')
      await goto(`executions/${id}`)
      await user.heading('greet')
      await user.tap(button(page, 'Cancel this execution'))
      await user.tap(button(page, 'No'))
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      await user.tap(button(page, 'Cancel this execution'))
      await user.tap(button(page, 'Cancel the execution'))
      await expect.poll(() => stateOf(id)).toBe('CANCELLED')
    },
  ],
  [
    'approve, with a reason',
    async (user, { page, goto }) => {
      const id = await start('give_back')
      await expect.poll(() => stateOf(id)).toBe('PAUSED')
      await goto('approvals')
      await user.heading('Approvals')
      const item = page.getByRole('listitem').filter({ has: page.getByTitle(id) })
      await user.fill(item.getByRole('textbox'), 'on the way')
      await user.tap(item.getByRole('button', { name: /^Approve refund/ }))
      await expect.poll(() => stateOf(id)).toBe('COMPLETED')
    },
  ],
  [
    'select executions and run them again',
    async (user, { page, goto }) => {
      await goto('executions?workflow_name=checkout')
      await user.heading('Executions')
      await user.tap(rowOf(page, ids.checkout ?? '').getByRole('checkbox'))
      const panel = page.getByRole('region', { name: 'Selected executions' })
      await user.tap(panel.getByRole('button', { name: 'Run again 1 execution' }))
      await panel.getByText('1 of 1 done, 0 refused').waitFor()
      await user.tap(panel.getByRole('button', { name: 'Clear the selection' }))
      await panel.waitFor({ state: 'detached' })
    },
  ],
  [
    'run a workflow',
    async (user, { page }) => {
      await user.go('Workflows')
      await user.tap(link(page, 'Run default/greet'))
      await user.heading('Run greet')
      await user.fill(page.getByLabel('Input (JSON)'), '"Eve"')
      await user.tap(main(page).getByRole('button', { name: 'Run', exact: true }))
      await page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
    },
  ],
  [
    'select a time in the histogram: by a drag along it, by its table, and not while scrolling',
    async (user, { page, goto }) => {
      await goto('executions')
      await user.heading('Executions')
      const chart = page.locator('.selectable')
      const address = page.url()
      await user.drag(chart, [0.5, 0.9], [0.5, -2])
      expect(await main(page).evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0)
      expect(page.url()).toBe(address)
      await user.drag(chart, [0.5, 0.5], [0.95, 0.5])
      await page.waitForURL(/created_after=.*created_before=/)
      await user.tap(link(page, /^chosen time/))
      await page.waitForURL(address)
      await user.tap(page.getByText('As a table'))
      await user.tap(page.locator('.over-time').getByRole('table').getByRole('link').first())
      await page.waitForURL(/created_after=.*created_before=/)
    },
  ],
  [
    'show a part of a timeline: by a drag along it, by its buttons, and not while scrolling',
    async (user, { page, goto }) => {
      await goto(`executions/${ids.checkout}?tab=timeline`)
      await user.heading('checkout')
      const strip = page.getByRole('slider', { name: 'Time that is shown' })
      const address = page.url()
      await user.drag(strip, [0.5, 0.9], [0.5, -3])
      expect(page.url()).toBe(address)
      await user.drag(strip, [0.2, 0.5], [0.6, 0.5])
      await page.waitForURL(/zoom=/)
      await user.tap(button(page, 'Show all of the time'))
      await page.waitForURL(address)
      await user.tap(button(page, 'Zoom in'))
      await page.waitForURL(/zoom=/)
      const zoomed = page.url()
      await user.tap(button(page, 'Later'))
      await expect.poll(() => page.url()).not.toBe(zoomed)
    },
  ],
  [
    'open and close the palette and the list of keys',
    async (user, { page }) => {
      const opener = button(page, /^Go to/)
      await user.tap(opener)
      await page.getByRole('dialog', { name: 'Palette' }).waitFor()
      await page.touchscreen.tap(2, 2)
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await user.tap(opener)
      await user.tap(page.getByRole('option', { name: /^List the keys/ }))
      await user.tap(page.getByRole('dialog', { name: 'Keys' }).getByRole('button'))
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await user.tap(opener)
      await page.getByRole('combobox', { name: /^Screen/ }).fill('greet')
      await user.tap(page.getByRole('option', { name: /^default\/greet/ }))
      await user.heading('greet')
    },
  ],
  [
    'see the last column of a table that is wider than the screen',
    async (user, { page, goto }) => {
      await goto('executions')
      await user.heading('Executions')
      const frame = main(page).locator('.table-frame').last()
      await user.drag(frame, [0.9, 0.5], [0.1, 0.5])
      await expect.poll(() => frame.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(0)
    },
  ],
]

describe.skipIf(obstacle)(`by touch alone${obstacle ? `: ${obstacle}` : ''}`, () => {
  describe.each(WIDTHS)('a screen of %d pixels', (width) => {
    test('sign in and out: done', async () => {
      const { page, goto } = await fixture.open(undefined, phone(width))
      const user = new TouchUser(page)
      await goto('')
      await user.fill(page.getByLabel('API key'), fixture.auth.admin)
      await user.tap(button(page, 'Sign in'))
      await user.heading('Home')
      await user.tap(button(page, 'Menu'))
      await user.tap(button(page, 'Sign out'))
      await page.getByLabel('API key').waitFor()
    })

    test.each(TASKS)(
      '%s: done',
      async (_, task) => {
        const one = await fixture.open(fixture.auth.admin, phone(width))
        const user = new TouchUser(one.page)
        await user.heading('Home')
        await task(user, one)
        expect(await one.contentWidth()).toBeLessThanOrEqual(width)
      },
      LIMIT_MS,
    )
  })
})
