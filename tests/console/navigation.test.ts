import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { consoleFixture } from './console-fixture.ts'
import { queuedSource } from './queued-source.ts'

const ROWS = 30

const fixture = consoleFixture({
  prepare: async ({ upload, requestOk }) => {
    expect((await upload(queuedSource('waits'))).status).toBe(200)
    for (let i = 0; i < ROWS; i++)
      await requestOk('POST /workflows/default/waits/run/async', { body: i })
  },
})
const { obstacle } = fixture

const scrolled = (page: Page) => page.evaluate<number>(`document.getElementById('main').scrollTop`)
const scrollTo = (page: Page, top: number) =>
  page.evaluate(`document.getElementById('main').scrollTo(0, ${top})`)

/** Opens the list in a window that is lower than its screens. */
async function openList(query = '') {
  const opened = await fixture.open(fixture.auth.admin)
  await opened.page.setViewportSize({ width: 1_280, height: 300 })
  await opened.visit(`executions${query}`, 'Executions')
  return opened
}

describe.skipIf(obstacle)(`navigation${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('a row of a scrolled list is opened: its screen begins at the top, with the focus; back, the list is near where it was', async () => {
    const { page } = await openList()
    await page.locator('.over-time figure').waitFor()
    await scrollTo(page, 600)
    // A click of the library may scroll first.
    await page.locator('td').getByText('Queued').nth(8).dispatchEvent('click')
    await page.getByRole('heading', { level: 1, name: 'waits' }).waitFor()
    expect([await scrolled(page), await page.evaluate('document.activeElement.id')]).toEqual([
      0,
      'main',
    ])
    await page.getByRole('link', { name: 'Why', exact: true }).waitFor()
    await page.keyboard.press('End')
    await expect.poll(() => scrolled(page)).toBeGreaterThan(0)
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Executions' }).waitFor()
    // Parts above the list that are read late may move it by their height.
    await expect.poll(() => scrolled(page)).toBeGreaterThan(400)
  })

  test('the next page of a list is opened from its end: it begins at the top', async () => {
    const { page } = await openList('?limit=15')
    await page.getByRole('button', { name: 'Older' }).click()
    await page.getByText(`16–${ROWS} of ${ROWS}`).waitFor()
    expect(await scrolled(page)).toBe(0)
  })

  test('a screen is opened by its keys: the next Tab reaches its first control', async () => {
    const { page } = await openList()
    await page.keyboard.press('g')
    await page.keyboard.press('w')
    await page.getByRole('heading', { level: 1, name: 'Workflows' }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.type')).toBe('file')
  })

  test('a row has been selected, so that its checkbox has the focus: the keys of a screen open it', async () => {
    const { page } = await openList()
    await page.getByRole('row').getByRole('checkbox').nth(1).check()
    await page.keyboard.press('g')
    await page.keyboard.press('w')
    await page.getByRole('heading', { level: 1, name: 'Workflows' }).waitFor()
  })

  test('filters of a tag and of the run time: each finds its executions', async () => {
    const run = 'POST /workflows/default/waits/run/async?tags=team%3Dbilling'
    const { execution_id = '' } = await fixture.auth.requestOk(run, { body: 'tagged' })
    const { page } = await openList('?workflow_name=waits')
    await page.getByText('More filters').click()
    await page.getByLabel('Tags').fill('team=billing')
    await page.waitForURL(/tags=team%3Dbilling/)
    await expect.poll(() => page.locator('table.clickable tbody tr').count()).toBe(1)
    expect(await page.getByTitle(execution_id).count()).toBe(1)
    await page.getByLabel('Tags').fill('')
    // The other filters stay open, although none of them is given now.
    await page.waitForURL(({ search }) => !search.includes('tags'))
    await page.getByLabel('Ran at least, s').fill('3600')
    await page.getByText('No execution matches').waitFor()
  })
})
