import { describe, expect, test } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { seed } from './console-seed.ts'
import { type Fault, type FaultProxy, provideFaultProxy } from './fault-proxy.ts'

let ids: Record<string, string> = {}
let proxy: FaultProxy
const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async (auth) => {
    ids = await seed(auth)
  },
})
const { obstacle } = fixture

provideFaultProxy(fixture, (started) => {
  proxy = started
})

const open = () => fixture.open(fixture.auth.admin, { baseURL: proxy.url })

/** A fault of the first requests that match, as many as are given. */
function faultOf(pattern: RegExp, faults: Fault[]): void {
  const left = [...faults]
  proxy.fault = ({ method, path }) => (pattern.test(`${method} ${path}`) ? left.shift() : undefined)
}

describe.skipIf(obstacle)(`faults${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('a script of a screen that breaks off: read again without a click', async () => {
    const { page } = await open()
    faultOf(/assets\/queue-/, ['unsent', 'unanswered', 'cut'])
    await page.getByRole('link', { name: 'Queue', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
  })

  test('a server that was updated, whose scripts have other names: offers to load the page again', async () => {
    const { page } = await open()
    faultOf(
      /assets\/queue-/,
      Array.from({ length: 6 }, () => 404),
    )
    await page.getByRole('link', { name: 'Queue', exact: true }).click()
    await page.getByText('This screen cannot be loaded').waitFor()
    await page.getByRole('button', { name: 'Load the page again' }).click()
    await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
  })

  test('the answer to a start is lost: repeated under its key, and one execution starts', async () => {
    const { page, visit } = await open()
    await visit('start/default/greet', 'Run greet')
    const count = async () =>
      Number((await fixture.auth.requestOk('GET /executions?workflow_name=greet')).total)
    const before = await count()
    faultOf(/^POST .*\/run\/async/, ['unanswered', 'unsent'])
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
    expect(await count()).toBe(before + 1)
  })

  test('the connection breaks at a decision: sent again, and the execution completes', async () => {
    const { page, visit } = await open()
    await visit('approvals', 'Approvals')
    faultOf(/\/approve$/, ['unsent', 'unsent'])
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Nothing waits for a decision').waitFor()
    await expect
      .poll(async () => (await fixture.auth.requestOk(`GET /executions/${ids.give_back}`)).state)
      .toBe('COMPLETED')
  })

  test('the gateway is not ready for a cancel: sent again, and the execution is cancelled', async () => {
    const { page, visit } = await open()
    await visit(`executions/${ids.greet}`, 'greet')
    faultOf(/\/cancel\//, [503, 502, 504])
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Cancel the execution' }).click()
    await page.getByText('Asked to cancel.').waitFor()
    const path = `GET /executions/${ids.greet}`
    await expect.poll(async () => (await fixture.auth.requestOk(path)).state).toBe('CANCELLED')
  })

  test('the event stream of an execution breaks off and repeats itself: its end is shown, each entry once', async () => {
    const { page, visit } = await open()
    const run = 'POST /workflows/default/give_back/run/async'
    const { execution_id = '' } = await fixture.auth.requestOk(run, { body: 1 })
    faultOf(/\/events(\?|$)/, ['cut', 'doubled', 'unsent', 'doubled'])
    await visit(`executions/${execution_id}?tab=approvals`, 'give_back')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('main').getByText('Completed').first().waitFor()
    await page.getByRole('link', { name: 'Log', exact: true }).click()
    const end = page.getByRole('cell', { name: 'WORKFLOW_COMPLETED' })
    await end.first().waitFor()
    expect(await end.count()).toBe(1)
  })

  test('the gateway is away and returns: what is shown says since when, then it is current again', async () => {
    const { page, visit } = await open()
    await visit('executions', 'Executions')
    proxy.fault = () => 'unsent'
    proxy.breakAll()
    await page.getByText(/The server cannot be reached.*What you see was read/).waitFor()
    expect(await page.getByRole('link', { name: 'checkout' }).count()).not.toBe(0)
    proxy.fault = () => undefined
    await page.getByText('What you see was read').waitFor({ state: 'detached', timeout: 60_000 })
  })

  test('a gateway that is overloaded: 503 and 429 are said, and the answer follows', async () => {
    const { page, goto, visit } = await open()
    // Home reads the queue too, which must not take the faults.
    await visit('settings', 'Settings')
    faultOf(/^GET \/queue/, [503, 429])
    await goto('queue')
    await page.getByText('The server is not ready').waitFor()
    await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
    await expect.poll(() => page.getByRole('alert').count()).toBe(0)
  })

  test('a part of a large input cannot be read: says so, and it is shown once the gateway is ready', async () => {
    const { page, visit } = await open()
    const body = 'x'.repeat(300_000)
    const run = 'POST /workflows/default/greet/run/async'
    const { execution_id = '' } = await fixture.auth.requestOk(run, { body })
    await visit(`executions/${execution_id}?tab=data`, 'greet')
    const text = page.getByLabel('Input, text')
    await text.getByText(/^"x/).waitFor()
    proxy.fault = ({ path }) => (path.endsWith('/input') ? 503 : undefined)
    await text.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await text.getByText('The server is not ready').first().waitFor()
    proxy.fault = () => undefined
    await text.getByText(/x"$/).waitFor({ timeout: 60_000 })
    expect(await text.getByRole('alert').count()).toBe(0)
  })

  test('rights are taken while a page is open: it says so and keeps showing nothing new', async () => {
    const { key, subject } = await fixture.auth.createAccount(['admin'])
    const { page, visit } = await fixture.open(key)
    await visit('secrets', 'Secrets')
    await fixture.auth.requestOk(`POST /admin/principals/${subject}/roles`, {
      body: { role: 'viewer' },
    })
    await fixture.auth.requestOk(`DELETE /admin/principals/${subject}/roles/admin`)
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByText('admin:audit:read').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('You may not see this')
  })

  test.each([-3_600_000, 3_600_000])(
    'the clock of the browser is off by %d ms: times are those of the server',
    async (offset) => {
      const { page, visit } = await fixture.open(
        fixture.auth.admin,
        {},
        async ({ page: fresh }) => {
          await fresh.clock.install({ time: Date.now() + offset })
        },
      )
      const run = 'POST /workflows/default/greet/run/async'
      const { execution_id = '' } = await fixture.auth.requestOk(run, { body: 'now' })
      await visit('executions?workflow_name=greet', 'Executions')
      const row = page.getByRole('row').filter({ has: page.getByTitle(execution_id) })
      expect(await row.textContent()).toMatch(/now|\d+ s ago|1 m ago/)
    },
  )

  test('storage is forbidden: the console works, and a choice lasts until the page is left', async () => {
    const { page, visit } = await fixture.open(fixture.auth.admin, {}, ({ page: fresh }) =>
      fresh.addInitScript(`
        for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
          Object.defineProperty(window, name, {
            get() { throw new DOMException('forbidden', 'SecurityError') },
          })`),
    )
    await visit('executions', 'Executions')
    await page.getByLabel('Theme').selectOption('dark')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    const link = (name: string) => page.getByRole('navigation').getByRole('link', { name })
    await link('Settings').click()
    const keys = page.getByLabel('Keys without Ctrl')
    await keys.uncheck()
    expect(await page.getByRole('main').getByLabel('Theme').inputValue()).toBe('dark')
    await page.keyboard.press('g')
    await page.keyboard.press('q')
    await link('Workers').click()
    await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor()
    await link('Settings').click()
    expect(await keys.isChecked()).toBe(false)
    expect(await page.getByRole('main').getByLabel('Theme').inputValue()).toBe('dark')
    await visit('settings', 'Settings')
    expect(await keys.isChecked()).toBe(true)
  })

  test('JavaScript is off: a text says what is needed and where the API is described', async () => {
    const { page, goto } = await fixture.open(undefined, { javaScriptEnabled: false })
    await goto('')
    expect(await page.locator('body').textContent()).toContain('The console needs JavaScript')
  })

  test('an address by hand that names nothing: the page says so', async () => {
    const { page, goto } = await fixture.open(fixture.auth.admin)
    await goto('no-such-page/x')
    await page.getByText('There is no page "no-such-page"').waitFor()
    await goto(`executions/${'0'.repeat(32)}`)
    await page.getByText('Not found', { exact: true }).waitFor()
    await goto('executions?limit=-1&offset=x&state=NONE&range=never&selected=,,')
    await page.getByRole('heading', { level: 1, name: 'Executions' }).waitFor()
  })
})
