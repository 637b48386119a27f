import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { consoleFixture, isWhole, LIMIT_MS } from './console-fixture.ts'
import { INPUT, screensOf, seed } from './console-seed.ts'
import { cookieCases, HEADERS, statusOf } from './cookie-cases.ts'
import { pageCases } from './page-cases.ts'
import { restoredPageCases } from './restored-page-cases.ts'

let ids: Record<string, string> = {}
const fixture = consoleFixture({
  workers: 1,
  prepare: async (auth) => {
    ids = await seed(auth)
  },
})
const { obstacle } = fixture

const stateOf = async (name: string) =>
  (await fixture.auth.requestOk(`GET /executions/${ids[name]}`)).state

describe.skipIf(obstacle)(`the console in Chromium${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('sign-in: a wrong key is refused, a right one leads Home, and no script can read either', async () => {
    const one = await fixture.open()
    await one.goto('')
    await one.page.getByLabel('API key').fill('wk_0123456789abcdef.wrong')
    await one.page.getByRole('button', { name: 'Sign in' }).click()
    await one.page.getByRole('alert').waitFor()
    expect(await one.findings()).toEqual([])
    await one.signIn(fixture.auth.admin)
    const [cookie] = await one.page.context().cookies()
    expect(cookie).toMatchObject({
      name: `windlass-${new URL(fixture.url).port}`,
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
    })
    expect(
      await one.page.evaluate('document.cookie + JSON.stringify([localStorage, sessionStorage])'),
    ).toBe('[{},{}]')
    await one.page.getByRole('button', { name: 'Sign out' }).click()
    await one.page.getByLabel('API key').waitFor()
    expect(
      await statusOf(fixture.url, '/me', {
        ...HEADERS,
        cookie: `${cookie?.name}=${cookie?.value}`,
      }),
    ).toBe(401)
  })

  // The narrow window is the dark one, so that two passes cover themes and widths.
  test.each([
    ['light', 1_280],
    ['dark', 320],
  ] as const)(
    'screens, %s, %d pixels: no finding of axe, nothing wider than the window',
    async (colorScheme, width) => {
      const one = await fixture.open(fixture.auth.admin, {
        colorScheme,
        viewport: { width, height: 800 },
      })
      const found: Record<string, string[]> = {}
      // Half of the screens in each pass; `npm run test:console` visits all in both.
      const isWide = width > 320
      const screens = screensOf(ids).filter((_, i) => isWhole || (i % 2 === 0) === isWide)
      for (const [path, heading] of screens) {
        await one.visit(path, heading)
        const findings = await one.findings()
        const excess = (await one.contentWidth()) - width
        if (excess > 0) findings.push(`${excess} pixels too wide`)
        if (findings.length > 0) found[path] = findings
      }
      expect(found).toEqual({})
    },
    LIMIT_MS,
  )

  test('an execution that failed: its cause as text, its input exactly as it was sent', async () => {
    const one = await fixture.open(fixture.auth.admin)
    await one.visit(`executions/${ids.checkout}?tab=data`, 'checkout')
    await one.page.getByLabel('Error', { exact: true }).first().waitFor()
    expect(await one.page.getByText('card declined <script>alert(1)</script>').count()).not.toBe(0)
    await one.page.getByRole('button', { name: 'As stored: Input' }).click()
    expect(await one.page.getByLabel('Input, text').textContent()).toBe(INPUT)
    await one.page.getByRole('link', { name: 'Run again' }).click()
    await one.page.getByRole('heading', { name: 'Run checkout' }).waitFor()
    expect(await one.page.getByLabel('Input (JSON)').inputValue()).toBe(INPUT)
    await one.page.getByRole('button', { name: 'Run', exact: true }).click()
    await one.page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
  })

  test('output of the code: lines with visible controls, by level and by call', async () => {
    const one = await fixture.open(fixture.auth.admin)
    await one.visit(`executions/${ids.checkout}?tab=lines`, 'checkout')
    const lines = one.page.getByRole('list', { name: 'Lines' }).getByRole('listitem')
    expect(await lines.count()).toBe(2)
    const [printed = '', logged = ''] = await lines.allTextContents()
    expect(printed).toContain('␛[31mreserves <b>one</b>␛[0m U+202Etxt.exe')
    expect(logged).toContain('stockone is left')
    await one.page.getByLabel('Level, at least').selectOption('warning')
    await expect.poll(() => lines.count()).toBe(1)
    await lines.getByRole('link', { name: 'reserve' }).click()
    await one.page.getByRole('link', { name: 'Of one call only' }).waitFor()
    expect(one.page.url()).toMatch(/tab=lines&level=warning&task_id=reserve/)
  })

  test('an execution: compared with its rerun, forked after an entry, written to a file', async () => {
    const { page, visit } = await fixture.open(fixture.auth.admin)
    await visit(`compare/${ids.checkout}`, 'Compare')
    await page.getByRole('link', { name: ids.again }).click()
    await page.getByText('The inputs are the same.').waitFor()
    await visit(`executions/${ids.checkout}?tab=log`, 'checkout')
    await page
      .getByRole('link', { name: /^Fork after entry/ })
      .last()
      .click()
    await page.getByRole('button', { name: 'Start the fork' }).click()
    await page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
    expect(page.url()).not.toContain(ids.checkout)
    await visit(`fork/${ids.checkout}`, 'Fork')
    await page.getByText('With another input').click()
    await page.getByLabel('Input (JSON)').fill('[9007199254740993]')
    await page.getByRole('button', { name: 'Start the fork' }).click()
    await page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
    const parts = page.getByRole('navigation', { name: 'Parts of the execution' })
    await parts.getByRole('link', { name: 'Input and output' }).click()
    await page.getByRole('button', { name: 'As stored: Input' }).click()
    await expect.poll(() => page.getByLabel('Input, text').textContent()).toBe('[9007199254740993]')
    await visit('executions?workflow_name=greet', 'Executions')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Export CSV/ }).click(),
    ])
    expect(readFileSync(await file.path(), 'utf8')).toContain(`"${ids.greet}","default","greet"`)
  })

  test('executions: narrowed to an error, rows selected and run again, a time dragged over', async () => {
    const { page, visit } = await fixture.open(fixture.auth.admin)
    await visit('executions?group=error', 'Executions')
    await page.getByRole('link', { name: /card declined/ }).click()
    await page.getByRole('table', { name: 'By error' }).waitFor({ state: 'detached' })
    await page.locator(`[data-row="${ids.checkout}"]`).getByRole('checkbox').check()
    await page.locator(`[data-row="${ids.again}"]`).getByRole('checkbox').check()
    expect(page.url()).toContain('selected=')
    const panel = page.getByRole('region', { name: 'Selected executions' })
    expect(await panel.getByLabel('Action').inputValue()).toBe('rerun')
    await panel.getByLabel('Action').selectOption('cancel')
    expect(await panel.getByText('is left out').count()).toBe(2)
    await panel.getByLabel('Action').selectOption('rerun')
    await panel.getByRole('button', { name: 'Run again 2 executions' }).click()
    await panel.getByText('2 of 2 done, 0 refused').waitFor()
    const chart = await page.getByTitle('Drag to select a time').boundingBox()
    const { x = 0, y = 0, width = 0, height = 0 } = chart ?? {}
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width - 2, y + height / 2)
    await page.mouse.up()
    await expect.poll(() => page.url()).toMatch(/created_after=.*created_before=/)
  })

  test('a queued execution: why it waits, and the change that would help', async () => {
    const one = await fixture.open(fixture.auth.admin)
    await one.page.getByText(/no connected worker can run/).waitFor()
    await one.visit(`executions/${ids.greet}`, 'greet')
    await one.page.getByText('What would help').waitFor()
    expect(await one.page.getByText('label zone = nowhere').count()).toBe(1)
    await one.page.getByRole('button', { name: 'Cancel' }).click()
    await one.page.getByRole('button', { name: 'Cancel the execution' }).click()
    // A refusal is shown in the same place.
    const said = one.page.getByRole('main').getByRole('status').first()
    await expect.poll(() => said.textContent()).toBe('Asked to cancel.')
    await expect.poll(() => stateOf('greet')).toBe('CANCELLED')
  })

  test('an approval in the inbox: approved, and the execution completes', async () => {
    const one = await fixture.open(fixture.auth.admin)
    await one.visit('approvals', 'Approvals')
    await one.page.getByRole('button', { name: 'Approve' }).click()
    await one.page.getByText('Nothing waits for a decision').waitFor()
    await expect.poll(() => stateOf('give_back')).toBe('COMPLETED')
  })

  test('a viewer: actions are disabled and name the missing permission', async () => {
    const one = await fixture.open((await fixture.auth.createAccount(['viewer'])).key)
    await one.visit('start/default/greet', 'Run greet')
    const button = one.page.getByRole('button', { name: 'Run', exact: true })
    expect(await button.isDisabled()).toBe(true)
    expect(await button.getAttribute('title')).toContain('workflow:default:greet:run')
  })

  test('the key is revoked while a page is open: the page asks for a key', async () => {
    const one = await fixture.open()
    const { subject, key } = await fixture.auth.createAccount(['admin'])
    await one.signIn(key)
    await fixture.auth.requestOk(`DELETE /admin/principals/${subject}/keys/k`)
    await one.page.getByLabel('API key').waitFor()
  })
})

describe.skipIf(obstacle)('the cookie of a session', () => cookieCases(fixture))

describe.skipIf(obstacle)('the files of the console', () => pageCases(fixture))

describe.skipIf(obstacle)('a page that the browser restores', () => restoredPageCases(fixture))
