import type { Page } from 'playwright-core'
import { describe, expect, test, vi } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'

const SOURCE = `from windlass import ExecutionContext, workflow


@workflow.with_options(name="waits", affinity={"zone": "nowhere"})
async def waits(ctx: ExecutionContext):
    return ctx.input


@workflow.with_options(name="breaks")
async def breaks(ctx: ExecutionContext):
    raise ValueError("a line of its own below the name")
`
const run = (name: string) => `POST /workflows/default/${name}/run/async`
const WAIT = { timeout: 60_000, interval: 100 }
/** Rows of two heights: those that failed have a line with the error. */
const ROWS = 240
const FAILED_EVERY = 6

const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async ({ upload, requestOk }) => {
    expect((await upload(SOURCE)).status).toBe(200)
    for (let i = 0; i < ROWS; i++)
      await requestOk(run(i % FAILED_EVERY === 0 ? 'breaks' : 'waits'), { body: i })
    await vi.waitFor(
      async () =>
        expect((await requestOk('GET /executions?state=FAILED&limit=1')).total).toBe(
          ROWS / FAILED_EVERY,
        ),
      WAIT,
    )
  },
})
const { obstacle } = fixture

/** Pixels that rounding may take. */
const TOLERANCE_PX = 3
const BOTTOM = 1_000_000

const scrollTo = (page: Page, top: number) =>
  page.evaluate(`document.getElementById('main').scrollTo(0, ${top})`)

/** Rows that are in view as their ids, with their distance from the top of the window. */
const rowsIn = (page: Page) =>
  page.evaluate<[id: string, top: number][]>(`(() => {
    const frame = document.getElementById('main').getBoundingClientRect()
    return [...document.querySelectorAll('table.clickable tbody tr:not(.far)')].flatMap((row) => {
      const { top, bottom } = row.getBoundingClientRect()
      const id = row.querySelector('.id [title]')?.title
      return id && bottom > frame.top && top < frame.bottom ? [[id, top]] : []
    })
  })()`)

/** Opens a list in a low window, and scrolls it. */
async function openList(path: string, top: number) {
  const one = await fixture.open(fixture.auth.admin)
  await one.page.setViewportSize({ width: 1_280, height: 600 })
  await one.visit(path, 'Executions')
  await settled(one.page)
  await scrollTo(one.page, top)
  // Rows near the view are drawn.
  await settled(one.page)
  return one
}

/** Waits until the list and the chart are there and the rows in view have not moved for half a second. */
async function settled(page: Page) {
  await page.getByRole('figure').first().waitFor()
  await expect.poll(() => page.getByLabel('Loading').count()).toBe(0)
  await page.locator('table.clickable tbody tr').first().waitFor()
  let last = ''
  let since = Date.now()
  await vi.waitFor(async () => {
    const now = JSON.stringify(await rowsIn(page))
    if (now !== last) since = Date.now()
    last = now
    expect(Date.now() - since).toBeGreaterThan(500)
  }, WAIT)
  return JSON.parse(last) as [string, number][]
}

/** Opens the row in the middle of the view. */
async function openRow(page: Page) {
  const rows = await rowsIn(page)
  const [id = ''] = rows[Math.floor(rows.length / 2)] ?? []
  await page
    .getByTitle(id)
    .locator('xpath=ancestor::tr')
    .locator('td.num')
    .first()
    .dispatchEvent('click')
  await page.getByRole('link', { name: 'Why', exact: true }).waitFor()
  return id
}

/** Expects each row of the view where it was. */
async function expectSame(page: Page, before: readonly [string, number][]) {
  const after = new Map(await settled(page))
  const moved = before.map(([id, top]) => [id, (after.get(id) ?? Number.NaN) - top] as const)
  expect(moved.filter(([, by]) => !(Math.abs(by) <= TOLERANCE_PX))).toEqual([])
}

describe.skipIf(obstacle)(`going back${obstacle ? `: ${obstacle}` : ''}`, () => {
  test.each([
    ['a list', 'executions', 600],
    ['with counts and a filter', 'executions?namespace=default&counts=1', 1_200],
    ['with groups by workflow', 'executions?group=workflow', 900],
    ['with groups by error', 'executions?group=error', 900],
    ['the second page', 'executions?offset=50', 700],
    ['the second page, with groups', 'executions?limit=30&offset=30&group=workflow', 500],
    ['the end of a page', 'executions', BOTTOM],
    ['a long table, of which parts are drawn', 'executions?limit=240', 5_000],
    ['the end of a long table', 'executions?limit=240', BOTTOM],
  ])('%s, an execution and back: each row is where it was', async (_, path, top) => {
    const { page } = await openList(path, top)
    const before = await rowsIn(page)
    expect(before.length).toBeGreaterThan(3)
    await openRow(page)
    await page.goBack()
    await expectSame(page, before)
  })

  test('in a browser that holds no row in its place itself: each row is where it was', async () => {
    const { page } = await openList('executions?group=workflow&counts=1', 900)
    await page.evaluate(`document.getElementById('main').style.overflowAnchor = 'none'`)
    const before = await rowsIn(page)
    await openRow(page)
    await page.goBack()
    await expectSame(page, before)
  })

  test('parts above the list that were opened by hand are closed again: each row is where it was', async () => {
    const { page } = await openList('executions?namespace=default', 0)
    await page.getByText('Act on all that match').click()
    await page.getByLabel('Action').selectOption('Fork')
    await page.getByText('With another input for all of them').click()
    await scrollTo(page, 1_500)
    const before = await settled(page)
    await openRow(page)
    await page.goBack()
    await expectSame(page, before)
  })

  test('rows that waited when the list was left: they wait again, and each row is where it was', async () => {
    const { page } = await openList('executions', 700)
    const range = page.getByText(/^1–50 of /)
    const [total = ''] = /[0-9]+$/.exec((await range.textContent()) ?? '') ?? []
    for (let i = 0; i < 3; i++) await fixture.auth.requestOk(run('waits'), { body: i })
    const wait = page.getByRole('button', { name: '3 new', exact: true })
    await wait.waitFor()
    // The answer that is kept for a later visit has the new rows now.
    await page.getByText(`1–50 of ${Number(total) + 3}`, { exact: true }).waitFor()
    const before = await settled(page)
    await openRow(page)
    await page.goBack()
    await wait.waitFor()
    await expectSame(page, before)
  })

  test('an execution, read again by the browser, and back: each row is where it was', async () => {
    const { page } = await openList('executions?limit=240&group=workflow', 3_000)
    const before = await rowsIn(page)
    await openRow(page)
    await page.reload()
    await page.getByRole('link', { name: 'Why', exact: true }).waitFor()
    await page.goBack()
    await expectSame(page, before)
  })

  test('the next page and back: the first page is where it was left', async () => {
    const { page } = await openList('executions', BOTTOM)
    const before = await rowsIn(page)
    await page.getByRole('button', { name: 'Older' }).click()
    await page.getByText(/^51–100 of/).waitFor()
    expect(await page.evaluate(`document.getElementById('main').scrollTop`)).toBe(0)
    await page.goBack()
    await expectSame(page, before)
  })

  test.each([
    ['a few', 4, '4 new'],
    ['more than a page', 60, '50 or more new'],
  ])(
    '%s new rows arrive meanwhile: they wait, each row is where it was, and one that changed is shown so',
    async (_, number, text) => {
      const { page } = await openList('executions?workflow_name=waits', BOTTOM)
      const before = await rowsIn(page)
      const id = await openRow(page)
      for (let i = 0; i < number; i++) await fixture.auth.requestOk(run('waits'), { body: i })
      await fixture.auth.requestOk(`GET /workflows/default/waits/cancel/${id}`)
      await page.goBack()
      await page.getByRole('button', { name: text, exact: true }).waitFor()
      await expectSame(page, before)
      const row = page.getByRole('row').filter({ has: page.getByTitle(id) })
      await row.getByText('Cancelled').waitFor()
      await page.getByRole('button', { name: text, exact: true }).click()
      await expect.poll(() => page.getByRole('button', { name: /new$/ }).count()).toBe(0)
    },
  )

  test('a user who scrolls at once: the list stays where it was scrolled to', async () => {
    const { page } = await openList('executions', 900)
    await openRow(page)
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Executions' }).waitFor()
    await page.mouse.move(600, 300)
    await page.mouse.wheel(0, -400)
    const top = () => page.evaluate<number>(`document.getElementById('main').scrollTop`)
    await expect.poll(top).toBeLessThan(700)
    await settled(page)
    expect(await top()).toBeLessThan(700)
  })
})
