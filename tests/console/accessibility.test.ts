import { describe, expect, test } from 'vitest'
import {
  coveredFocus,
  expectAnnounced,
  flawsOfPage,
  flawsOfScreens,
  inEachWindow,
  watchAnnounced,
} from './accessible-windows.ts'
import { consoleFixture, isWhole, LIMIT_MS } from './console-fixture.ts'
import { screensOf, seed } from './console-seed.ts'
import { KeyboardUser } from './keyboard-user.ts'
import { layoutFlaws } from './page-flaws.ts'
import { SpokenTree } from './spoken-tree.ts'

let ids: Record<string, string> = {}
const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async (auth) => {
    ids = await seed(auth)
  },
})
const { obstacle } = fixture
const open = () => fixture.open(fixture.auth.admin)

describe.skipIf(obstacle)(`accessibility${obstacle ? `: ${obstacle}` : ''}`, () => {
  test(
    'screens in six windows: nothing is cut off or covered, and each control is reached and named',
    async () => {
      const one = await open()
      expect(await flawsOfScreens(one, screensOf(ids))).toEqual({})
    },
    LIMIT_MS,
  )

  test('sign-in in six windows: nothing is lost, the refusal is announced, a key can be pasted', async () => {
    const one = await fixture.open()
    await one.goto('')
    const key = one.page.getByLabel('API key')
    await key.fill('wk_0123456789abcdef.wrong')
    await one.page.getByRole('button', { name: 'Sign in' }).click()
    await one.page.getByRole('alert').waitFor()
    expect(await flawsOfPage(one)).toEqual([])
    await key.fill('')
    await key.evaluate((field, text) => {
      field.focus()
      field.ownerDocument.execCommand('insertText', false, text)
    }, fixture.auth.admin)
    await one.page.keyboard.press('Enter')
    await one.page.getByRole('heading', { name: 'Home' }).waitFor()
  })

  test.each([
    ['palette', 'Control+k'],
    ['list of keys', '?'],
  ])(
    'the %s in six windows: has a name, nothing is lost, and the focus returns',
    async (_, key) => {
      const one = await open()
      const { page } = one
      await one.visit('workflows', 'Workflows')
      const link = page.getByRole('main').getByRole('link', { name: 'greet', exact: true })
      await link.focus()
      await page.keyboard.press(key)
      await page.getByRole('dialog').waitFor()
      expect(await inEachWindow(one, () => layoutFlaws(page))).toEqual([])
      expect(await page.getByRole('dialog').getAttribute('aria-label')).toBeTruthy()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await link.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true)
    },
  )

  test('a question before an act in six windows: has a name, nothing is lost, and the focus returns', async () => {
    const one = await open()
    await one.visit(`schedules/${ids.nightly}`, 'nightly <i>')
    const opener = one.page.getByRole('button', { name: 'Delete the schedule nightly <i>' })
    await opener.press('Enter')
    const dialog = one.page.getByRole('dialog', { name: 'Delete the schedule nightly <i>?' })
    await dialog.waitFor()
    expect(await inEachWindow(one, () => layoutFlaws(one.page))).toEqual([])
    await one.page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(await opener.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true)
  })

  test('another screen is opened by keys: its title is announced and names the content, which has the focus', async () => {
    const { page, ...one } = await open()
    await one.visit('', 'Home')
    const announced = await watchAnnounced({ page })
    await page.keyboard.press('g')
    await page.keyboard.press('q')
    await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
    await expectAnnounced(announced, 'Queue')
    const main = (await SpokenTree.read(page)).nodes.find(({ role }) => role?.value === 'main')
    expect(main).toMatchObject({ name: { value: 'Queue' } })
    expect(main?.properties).toContainEqual({
      name: 'focused',
      value: { type: 'booleanOrUndefined', value: true },
    })
    expect(await page.title()).toBe('Queue · Windlass')
  })

  test('the list is filtered, and an execution arrives: how many match, and that there are new rows, is announced', async () => {
    const { page, ...one } = await open()
    await one.visit('executions', 'Executions')
    await page.getByText('live', { exact: true }).waitFor({ timeout: 60_000 })
    const announced = await watchAnnounced({ page })
    await page.getByLabel('Workflow', { exact: true }).fill('greet')
    await page.waitForURL(/workflow_name=greet/)
    await expectAnnounced(announced, '1 executions')
    await fixture.auth.requestOk('POST /workflows/default/greet/run/async', { body: 'Eve' })
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await expectAnnounced(announced, 'There are new rows')
  })

  test('acts: progress is in a region that is announced, and a failure is an alert', async () => {
    const one = await open()
    const { page } = one
    await one.visit('executions?workflow_name=greet&state=SCHEDULED', 'Executions')
    await page.getByText('Act on all that match').click()
    await page.getByRole('button', { name: 'Show what it would change' }).click()
    const said = page.getByRole('status').filter({ hasText: 'It applies to' })
    await said.waitFor()
    const region = await said.elementHandle()
    await page.getByRole('button', { name: /^Cancel \d+ execution/ }).click()
    await page.getByRole('status').filter({ hasText: 'done, 0 refused' }).waitFor()
    // It is the same element: readers announce changes of a region, and not each new region.
    expect(await region?.textContent()).toContain('done, 0 refused')
    await one.visit('access/robot', 'robot')
    await page.getByText('New key').click()
    await page.getByLabel('Name', { exact: true }).fill('k')
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByRole('alert').waitFor()
  })

  test('keys of one letter are turned off: they have no effect, and the palette still opens', async () => {
    const { page, ...one } = await open()
    await one.visit('settings', 'Settings')
    const keys = page.getByLabel('Keys without Ctrl')
    await keys.uncheck()
    await page.getByRole('main').focus()
    for (const key of ['g', 'q', '/', '?']) await page.keyboard.press(key)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Palette' }).waitFor()
    await page.keyboard.press('Escape')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Settings')
    expect(await page.getByRole('dialog', { name: 'Keys' }).count()).toBe(0)
    await keys.check()
    await page.getByRole('main').focus()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  })

  test('the menu of a narrow window: opened and closed by keys, and each of its entries is reached', async () => {
    const one = await open()
    const { page } = one
    await page.setViewportSize({ width: 320, height: 256 })
    await one.visit('workflows', 'Workflows')
    const user = new KeyboardUser(page)
    const opener = page.getByRole('button', { name: 'Menu' })
    const entries = page.getByRole('navigation', { name: 'Screens' }).getByRole('listitem')
    expect(await entries.count()).toBe(0)
    await user.enter(opener)
    expect(await opener.getAttribute('aria-expanded')).toBe('true')
    expect(await entries.count()).toBe(12)
    expect(
      await inEachWindow(one, async () =>
        (await layoutFlaws(page)).filter((one) => /Menu|NAV/.test(one)),
      ),
    ).toEqual([])
    await page.setViewportSize({ width: 320, height: 256 })
    await user.tabTo(entries.last().getByRole('link'))
    await user.press('Escape')
    expect(await entries.count()).toBe(0)
    expect(await opener.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true)
    await user.press('Enter')
    // The focus leaves the menu: it would lie over the control that has it.
    await user.tabTo(page.getByRole('main').getByRole('link').first())
    expect(await entries.count()).toBe(0)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Palette' }).waitFor()
    await user.press('Escape')
    await opener.focus()
    await user.press('Enter')
    await user.enter(entries.getByRole('link', { name: 'Queue' }))
    await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
    expect(await entries.count()).toBe(0)
    expect(
      await page.getByRole('main').evaluate((it) => it === it.ownerDocument.activeElement),
    ).toBe(true)
  })

  test('a time without dragging: the table of the chart leads to each of its steps, by keys alone', async () => {
    const { page, ...one } = await open()
    await one.visit('executions', 'Executions')
    const user = new KeyboardUser(page)
    const figure = page.locator('.over-time figure')
    await user.enter(figure.getByText('As a table'))
    await user.enter(figure.getByRole('table').getByRole('link').first())
    await page.waitForURL(/created_after=.*created_before=/)
  })

  test.each([
    ['100 %', 1_280, 800],
    ['200 % zoom', 640, 400],
  ])(
    'Tab through screens with parts over the list, %s: no control with the focus is covered',
    async (_, width, height) => {
      const one = await open()
      await one.page.setViewportSize({ width, height })
      const found: Record<string, string[]> = {}
      for (const [path, heading] of [
        [`executions?group=workflow&selected=${ids.checkout},${ids.again}`, 'Executions'],
        [`executions/${ids.checkout}?tab=log`, 'checkout'],
        [`schedules/${ids.nightly}`, 'nightly <i>'],
        ['audit', 'Audit'],
        ['roles/runners', 'runners'],
      ] as const) {
        await one.visit(path, heading)
        const covered = await coveredFocus(one)
        if (covered.length > 0) found[path] = covered
      }
      expect(found).toEqual({})
    },
    LIMIT_MS,
  )

  test('help and settings: in the same place and order on every screen', async () => {
    const one = await open()
    const orders = new Set<string>()
    for (const [path, heading] of screensOf(ids).filter((_, i) => i % 8 === 0)) {
      await one.visit(path, heading)
      const links = await one.page
        .getByRole('navigation', { name: 'Screens' })
        .locator('a, button, select')
      orders.add(JSON.stringify(await links.evaluateAll((all) => all.map((it) => it.textContent))))
    }
    expect([...orders]).toHaveLength(1)
    expect([...orders][0]).toContain('"API"')
  })
})
