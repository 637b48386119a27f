import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { workflowSource } from '../security/auth-system.ts'
import { consoleFixture } from './console-fixture.ts'

const fixture = consoleFixture({
  prepare: async ({ upload }) => {
    expect((await upload(workflowSource('default', 'waits'))).status).toBe(200)
  },
})
const { obstacle } = fixture

const keys = (page: Page) => page.getByRole('dialog', { name: 'Keys' })
const palette = (page: Page) => page.getByRole('dialog', { name: 'Palette' })

/** Presses a key in the task that closes the open dialog, before the page has removed it. */
const closeAndPress = (page: Page, key: string) =>
  page.evaluate(
    `document.querySelector('dialog[open]').close()
     document.activeElement.dispatchEvent(
       new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }),
     )`,
  )

const focused = (page: Page) => page.evaluate('document.activeElement.type')

describe.skipIf(obstacle)(`dialogs${obstacle ? `: ${obstacle}` : ''}`, () => {
  test.each([
    ['?', keys],
    ['Control+k', palette],
  ])('the dialog of %s has just been closed: the next key has its effect', async (key, dialog) => {
    const { page, visit } = await fixture.open(fixture.auth.admin)
    await visit('executions', 'Executions')
    await page.keyboard.press(key)
    await dialog(page).waitFor()
    await closeAndPress(page, '/')
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('search')
  })

  test('the list of keys is chosen in the palette: it opens and stays open', async () => {
    const { page, visit } = await fixture.open(fixture.auth.admin)
    await visit('executions', 'Executions')
    await page.keyboard.press('Control+k')
    await palette(page).waitFor()
    await page.keyboard.type('list the keys')
    await page.keyboard.press('Enter')
    await keys(page).waitFor()
    // The palette announces its end in a task of its own.
    await page.waitForTimeout(500)
    expect(await keys(page).count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
  })

  test('the palette is opened by its button and closed by its key: the button has the focus again', async () => {
    const { page, visit } = await fixture.open(fixture.auth.admin)
    await visit('executions', 'Executions')
    await page.getByRole('button', { name: /^Go to/ }).click()
    await palette(page).waitFor()
    await page.keyboard.press('Control+k')
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Go to')
  })
})
