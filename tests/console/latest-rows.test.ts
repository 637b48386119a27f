import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { hold } from './held-requests.ts'
import { TOLERANCE_PX, topOf } from './places.ts'

const SOURCE = `from windlass import ExecutionContext, workflow


@workflow.with_options(name="quick")
async def quick(ctx: ExecutionContext):
    return ctx.input
`

let worker = ''
const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async ({ upload, requestOk }) => {
    expect((await upload(SOURCE)).status).toBe(200)
    const [first] = (await requestOk('GET /workers')) as unknown as { name: string }[]
    worker = first?.name ?? ''
  },
})
const { obstacle } = fixture

/** Runs the workflow to its end; returns the id. */
const run = async (): Promise<string> => {
  const path = 'POST /workflows/default/quick/run/sync?detailed=true'
  return (await fixture.auth.requestOk(path, { body: 'x' })).execution_id ?? ''
}

const rowIn = (page: Page) => (id: string) => page.locator(`[data-row="${id}"]`)
const waiting = (page: Page) => page.getByRole('button', { name: '1 new' })

/** Records the texts of the buttons that are shown above the list from now on; returns a function for them. */
async function buttonsShown(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(`(() => {
    window.buttonsShown = []
    const note = () => {
      for (const one of document.querySelectorAll('.new-rows button')) window.buttonsShown.push(one.textContent)
    }
    new MutationObserver(note).observe(document.body, { childList: true, subtree: true })
  })()`)
  return () => page.evaluate<string[]>('window.buttonsShown')
}

const LISTS: [where: string, path: () => string, heading: () => string, hasCharts: boolean][] = [
  ['Home', () => '', () => 'Home', true],
  ['the screen of a workflow', () => 'workflows/default/quick', () => 'quick', false],
  ['the screen of a worker', () => `workers/${worker}`, () => worker, true],
]

describe.skipIf(obstacle)(`the latest rows${obstacle ? `: ${obstacle}` : ''}`, () => {
  test.each(LISTS)(
    'executions on %s: new ones wait while the pointer is among them',
    async (_, path, heading, hasCharts) => {
      const first = await run()
      const { page, visit, findings } = await fixture.open(fixture.auth.admin)
      await visit(path(), heading())
      if (hasCharts) await page.getByRole('figure').first().waitFor()
      const row = rowIn(page)
      await row(first).hover()
      const top = await topOf(row(first))
      const second = await run()
      await waiting(page).waitFor()
      expect(Math.abs((await topOf(row(first))) - top)).toBeLessThan(TOLERANCE_PX)
      expect(await row(second).count()).toBe(0)
      expect(await findings()).toEqual([])
      await page.mouse.move(1, 1)
      await row(second).waitFor()
      expect(await waiting(page).count()).toBe(0)
      const shown = await buttonsShown(page)
      const third = await run()
      await row(third).waitFor()
      expect(await shown()).toEqual([])
    },
  )

  test('executions on Home: new ones wait while one has the focus, and the button shows them', async () => {
    const first = await run()
    const { page, visit } = await fixture.open(fixture.auth.admin)
    await visit('', 'Home')
    const row = rowIn(page)
    await row(first).getByRole('link').first().focus()
    const second = await run()
    await waiting(page).waitFor()
    expect(await row(second).count()).toBe(0)
    await waiting(page).press('Enter')
    await row(second).waitFor()
    // The next key continues at the list.
    await page.keyboard.press('Tab')
    const focused = page.locator('.held-rows :focus')
    await focused.waitFor()
  })

  test('executions on Home, on a touch screen: new ones wait for the button', async () => {
    const first = await run()
    const phone = { hasTouch: true, isMobile: true, viewport: { width: 412, height: 740 } }
    const { page, visit } = await fixture.open(fixture.auth.admin, phone)
    await visit('', 'Home')
    const row = rowIn(page)
    await row(first).waitFor()
    const second = await run()
    await waiting(page).tap()
    await row(second).waitFor()
  })

  test('entries of the audit log: new ones wait while the pointer is among them', async () => {
    const { page, visit } = await fixture.open(fixture.auth.admin)
    await visit('audit?action=secret', 'Audit')
    await page.getByText('No entry matches').waitFor()
    const create = (name: string) =>
      fixture.auth.requestOk('POST /admin/secrets', { body: { name, value: 'v' } })
    await create('one')
    const one = page.getByRole('row').filter({ hasText: 'secret:one' })
    await one.first().hover()
    const top = await topOf(one.first())
    await create('two')
    await page.getByRole('button', { name: /^[0-9]+ new$/ }).waitFor()
    expect(Math.abs((await topOf(one.first())) - top)).toBeLessThan(TOLERANCE_PX)
    expect(await page.getByText('secret:two').count()).toBe(0)
    await page.mouse.move(1, 1)
    await page.getByText('secret:two').first().waitFor()
  })

  test.each([1_280, 320])(
    'Home of %d pixels, whose charts are read late: no row moves',
    async (width) => {
      const id = await run()
      const { page, goto } = await fixture.open(fixture.auth.admin)
      await page.setViewportSize({ width, height: 800 })
      const stats = await hold(page, ({ pathname }) => pathname.endsWith('/executions/stats'))
      await goto('')
      await page.reload()
      await rowIn(page)(id).waitFor()
      await stats.untilHeld()
      const top = await topOf(rowIn(page)(id))
      await stats.release()
      await page.getByRole('figure').first().waitFor()
      const moved = Math.abs((await topOf(rowIn(page)(id))) - top)
      expect(moved).toBeLessThan(TOLERANCE_PX)
    },
  )
})
