import { describe, expect, test } from 'vitest'
import { FAILED_LINE, runBooking } from './booking.ts'
import { consoleFixture } from './console-fixture.ts'
import { KeyboardUser } from './keyboard-user.ts'
import type { WatchedPage } from './watched-page.ts'

const WAITS = `from windlass import ExecutionContext, workflow


@workflow.with_options(name="picky", affinity={"zone": "nowhere"})
async def picky(ctx: ExecutionContext):
    return 1
`

/** Lines 5 to 7 define a task that runs until it is cancelled; line 12 calls it. */
const HOLDS = `import asyncio
from windlass import ExecutionContext, task, workflow


@task
async def hold(order):
    await asyncio.sleep(600)


@workflow.with_options(name="holder")
async def holder(ctx: ExecutionContext):
    await hold(ctx.input)
`

/** Its second run finds the result of the task in the cache of the worker. */
const CACHES = `from windlass import ExecutionContext, task, workflow


@task.with_options(cache=True)
async def forecast(city):
    return f"sun in {city}"


@workflow.with_options(name="plan")
async def plan(ctx: ExecutionContext):
    return await forecast(ctx.input)
`

const ids = { booking: '', first: '', second: '' }
const fixture = consoleFixture({
  workers: 1,
  prepare: async (auth) => {
    ids.booking = await runBooking(auth)
    expect((await auth.upload(WAITS)).status).toBe(200)
    const start = () => auth.requestOk('POST /workflows/default/picky/run/async')
    ids.first = (await start()).execution_id ?? ''
    ids.second = (await start()).execution_id ?? ''
  },
})
const { obstacle } = fixture

const lanesOf = ({ page }: WatchedPage) =>
  page.getByRole('list', { name: /^Calls of tasks/ }).getByRole('listitem')

/** Pixels by which the content is wider than the window. */
const excessOf = async (one: WatchedPage) =>
  (await one.contentWidth()) - (one.page.viewportSize()?.width ?? 0)

describe.skipIf(obstacle)(`tabs of an execution${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('the timeline: tries, a rollback and compensations by shape and word; calls within calls are indented', async () => {
    const one = await fixture.open(fixture.auth.admin)
    await one.visit(`executions/${ids.booking}?tab=timeline`, 'booking')
    const lanes = lanesOf(one)
    const book = lanes.filter({ hasText: 'book' }).filter({ hasText: '2 retries' })
    expect(await book.textContent()).toContain('rolled back')
    const words = await book.getByRole('img').getAttribute('aria-label')
    expect(words).toMatch(
      /try 1 at .* failed at .*, try 2 at .* failed at .*, try 3 at .*, rollback/,
    )
    expect(await book.locator('.at .mark-failed').count()).toBe(3)
    expect(await book.locator('.at .mark-retry').count()).toBe(2)
    expect(await book.locator('.bar-rollback').count()).toBe(1)
    const undo = lanes.filter({ hasText: 'release_payment' })
    expect(await undo.textContent()).toContain('compensates')
    const names = (await lanes.all()).map((lane) => lane.locator('.lane > span').first())
    const indents = await Promise.all(names.map((name) => name.getAttribute('style')))
    // hold_payment, book, a check in each of its three tries, release_payment.
    expect(indents.map((style) => Number(/\d+/.exec(style ?? '')?.[0]) / 12)).toEqual([
      0, 0, 1, 1, 1, 0,
    ])
    const legend = one.page.getByRole('list', { name: 'Marks' })
    expect(await legend.textContent()).toMatch(/try failed.*next try begins.*rollback.*compensates/)
    expect(await one.findings()).toEqual([])
  })

  test('a result of the cache: a shape and words in the timeline and its table; the first run has none', async () => {
    const { upload, requestOk, admin } = fixture.auth
    expect((await upload(CACHES)).status).toBe(200)
    const run = async () => {
      const body = { city: 'Oslo' }
      const answer = await requestOk('POST /workflows/default/plan/run/sync?detailed=true', {
        body,
      })
      return answer.execution_id ?? ''
    }
    const [first, second] = [await run(), await run()]
    const one = await fixture.open(admin)
    const { page, visit, findings } = one
    await visit(`executions/${first}?tab=timeline&table=1`, 'plan')
    const rows = page.getByRole('table', { name: 'Calls of tasks' }).getByRole('row')
    await expect.poll(() => rows.count()).toBe(2)
    expect(await rows.last().textContent()).not.toContain('reused')
    expect(await page.locator('.mark-cached').count()).toBe(0)
    await visit(`executions/${second}?tab=timeline`, 'plan')
    const lane = lanesOf(one).first()
    expect(await lane.textContent()).toContain('result reused')
    expect(await lane.getByRole('img').getAttribute('aria-label')).toContain('result reused')
    expect(await lane.locator('.at .mark-cached').count()).toBe(1)
    expect(await page.getByRole('list', { name: 'Marks' }).textContent()).toContain('result reused')
    await page.getByText('As a table').click()
    await expect.poll(() => page.url()).toMatch(/table=1$/)
    expect(await rows.last().textContent()).toMatch(/forecast1completed.*1result reused$/)
    expect(await findings()).toEqual([])
    await page.getByText('As a table').click()
    await expect.poll(() => page.url()).not.toContain('table=')
  })

  test('the overview by keyboard and by drag: the part is in the address, and kept when it is opened again', async () => {
    const one = await fixture.open(fixture.auth.admin)
    const { page, visit } = one
    await visit(`executions/${ids.booking}?tab=timeline`, 'booking')
    const strip = page.getByRole('slider', { name: 'Time that is shown' })
    const user = new KeyboardUser(page)
    await user.tabTo(strip)
    await user.press('+')
    await expect.poll(() => page.url()).toMatch(/tab=timeline&zoom=\d+-\d+$/)
    await user.press('Home')
    await expect.poll(() => page.url()).toMatch(/zoom=0-\d+$/)
    const address = page.url()
    await page.getByText(/^\d+ of 6 calls$/).waitFor()
    const shown = await lanesOf(one).count()
    expect(shown).toBeLessThan(6)
    expect(await strip.getAttribute('aria-valuetext')).toMatch(/^0 ms to .* of /)
    await page.goto(address)
    await page.getByText(`${shown} of 6 calls`).waitFor()
    await strip.focus()
    await user.press('0')
    await expect.poll(() => page.url()).toMatch(/tab=timeline$/)
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await expect.poll(() => page.url()).toContain('zoom=')
    await page.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(() => page.url()).not.toContain('zoom=')
    const { x = 0, y = 0, width = 0, height = 0 } = (await strip.boundingBox()) ?? {}
    await page.mouse.move(x + width * 0.6, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.2, y + height / 2)
    await page.mouse.up()
    await expect.poll(() => page.url()).toMatch(/zoom=\d+-\d+$/)
    expect(await one.findings()).toEqual([])
  })

  test('a part that the address names wrongly: the whole time', async () => {
    const one = await fixture.open(fixture.auth.admin)
    for (const zoom of ['9-3', '%3Cscript%3E', '99999999999-999999999999']) {
      await one.visit(`executions/${ids.booking}?tab=timeline&zoom=${zoom}`, 'booking')
      await one.page.getByText('6 calls', { exact: true }).waitFor()
    }
  })

  test('the source: the line that failed is marked, and the traceback leads to it', async () => {
    const one = await fixture.open(fixture.auth.admin)
    const { page, visit } = one
    await visit(`executions/${ids.booking}?tab=log`, 'booking')
    const frames = page.getByRole('list', { name: /^Traceback/ }).getByRole('listitem')
    await expect.poll(() => frames.last().textContent()).toContain('raise ValueError')
    expect(await frames.last().textContent()).toContain('in book, booking version 1')
    await frames
      .last()
      .getByRole('link', { name: `line ${FAILED_LINE}` })
      .click()
    await expect
      .poll(() => page.url())
      .toMatch(new RegExp(`tab=source&version=1&line=${FAILED_LINE}$`))
    const marked = page.locator('mark.failed')
    await marked.waitFor()
    expect(await marked.textContent()).toMatch(/raise ValueError\(.*\) ✕ failed here$/)
    expect(await page.getByText(`Line ${FAILED_LINE}: failed here`).count()).toBe(1)
    expect(await one.findings()).toEqual([])
  })

  test('the source of an execution that runs: the line whose call runs is marked, until it ends', async () => {
    const { upload, requestOk, admin } = fixture.auth
    expect((await upload(HOLDS)).status).toBe(200)
    const run = 'POST /workflows/default/holder/run/async'
    const { execution_id = '' } = await requestOk(run)
    const one = await fixture.open(admin)
    const { page, visit } = one
    await visit(`executions/${execution_id}?tab=source`, 'holder')
    const marks = page.getByRole('list', { name: 'Marked lines' }).getByRole('listitem')
    await expect
      .poll(() => marks.allTextContents(), { timeout: 30_000 })
      .toEqual(['Line 6: a call of it runs', 'Line 12: runs now: the call of hold'])
    expect(await page.locator('mark.running').last().textContent()).toMatch(
      /await hold\(ctx\.input\) ▶ runs now: the call of hold$/,
    )
    expect(await one.findings()).toEqual([])
    await requestOk(`GET /workflows/default/holder/cancel/${execution_id}`)
    await expect.poll(() => marks.count(), { timeout: 30_000 }).toBe(0)
  })

  test('why an execution waits: its needs against the worker, its place in the queue, a table', async () => {
    const one = await fixture.open(fixture.auth.admin)
    const { page, visit } = one
    await visit(`executions/${ids.second}?tab=why`, 'picky')
    const matrix = page.getByRole('table', { name: 'Needs against workers' })
    const zone = matrix.getByRole('row', { name: /^label 'zone' = 'nowhere'/ })
    expect(await zone.getByRole('cell').allTextContents()).toEqual(['lacks it'])
    expect(await zone.locator('svg').count()).toBe(1)
    expect(await matrix.getByRole('row', { name: /^a connection/ }).textContent()).toContain(
      'online',
    )
    expect(await matrix.getByText('← nearest').count()).toBe(1)
    expect(await matrix.getByText('no, 1 unmet').count()).toBe(1)
    await page.getByText('It comes after 1 other.').waitFor()
    await page.getByText('What would help').waitFor()
    await page.getByText('As a table').click()
    expect(await page.getByRole('cell', { name: /^No, it lacks label 'zone'/ }).count()).toBe(1)
    expect(await one.findings()).toEqual([])
  })

  test('320 pixels, dark: no finding of axe, nothing wider than the window', async () => {
    const viewport = { width: 320, height: 800 }
    const one = await fixture.open(fixture.auth.admin, { colorScheme: 'dark', viewport })
    for (const path of [
      `${ids.booking}?tab=timeline&zoom=0-100`,
      `${ids.booking}?tab=source&line=${FAILED_LINE}`,
      `${ids.second}?tab=why`,
    ]) {
      await one.visit(`executions/${path}`, /booking|picky/)
      expect([path, await excessOf(one), await one.findings()]).toEqual([
        path,
        expect.toSatisfy((excess: number) => excess <= 0),
        [],
      ])
    }
  })

  test('a caller who may read no workflow: the tabs say which permission is missing', async () => {
    const one = await fixture.open((await fixture.auth.createAccount([])).key)
    for (const tab of ['timeline', 'source', 'why']) {
      await one.goto(`executions/${ids.booking}?tab=${tab}`)
      await one.page.getByText('You may not see this').first().waitFor()
    }
    expect(await one.findings()).toEqual([])
  })

  test('a version that was deleted: the source tab says so, the traceback shows the stored code', async () => {
    await fixture.auth.requestOk('DELETE /workflows/default/booking')
    const one = await fixture.open(fixture.auth.admin)
    await one.visit(`executions/${ids.booking}?tab=source`, 'booking')
    await one.page.getByText('The version that ran has been deleted').waitFor()
    const frames = one.page.getByRole('list', { name: /^Traceback/ }).getByRole('listitem')
    expect(await frames.last().textContent()).toContain('raise ValueError')
  })
})
