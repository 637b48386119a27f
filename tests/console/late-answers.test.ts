import { describe, expect, test } from 'vitest'
import { consoleFixture } from './console-fixture.ts'
import { hold } from './held-requests.ts'
import { queuedSource } from './queued-source.ts'

const NUMBERS = `from pydantic import BaseModel
from windlass import ExecutionContext, workflow


class Numbers(BaseModel):
    numbers: list[int]


@workflow.with_options(name="counts", affinity={"zone": "nowhere"})
async def counts(ctx: ExecutionContext[Numbers]):
    return ctx.input
`

const fixture = consoleFixture({
  prepare: async ({ upload, requestOk }) => {
    for (const source of [queuedSource('waits'), NUMBERS])
      expect((await upload(source)).status).toBe(200)
    for (let i = 0; i < 3; i++)
      await requestOk('POST /workflows/default/waits/run/async', { body: i })
    const principal = { subject: 'ann', type: 'service_account' }
    await requestOk('POST /admin/principals', { body: principal })
    const permissions = ['workflow:team:*:read']
    await requestOk('POST /admin/roles', { body: { name: 'readers', permissions } })
  },
})
const { obstacle } = fixture

const open = () => fixture.open(fixture.auth.admin)

/** Runs as one step of the page, so that nothing is drawn in between. */
const type = (label: string, text: string) =>
  `(() => {
    const field = [...document.querySelectorAll('label')].find((one) => one.textContent.startsWith(${JSON.stringify(label)}))
    const input = field.querySelector('input')
    input.value = ${JSON.stringify(text)}
    input.dispatchEvent(new Event('input', { bubbles: true }))
  })()`

describe.skipIf(obstacle)(`late answers${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('a selected execution ends: the button of the cancel starts nothing', async () => {
    const run = 'POST /workflows/default/waits/run/async'
    const { execution_id = '' } = await fixture.auth.requestOk(run, { body: 'ends' })
    const { page, visit } = await open()
    await visit(`executions?selected=${execution_id}`, 'Executions')
    const selection = page.getByRole('region', { name: 'Selected executions' })
    await selection.getByRole('button', { name: 'Cancel 1 execution' }).waitFor()
    await fixture.auth.requestOk(`GET /workflows/default/waits/cancel/${execution_id}`)
    const cancel = selection.getByRole('button', { name: 'Cancel 0 executions' })
    await cancel.waitFor()
    expect(await cancel.isDisabled()).toBe(true)
  })

  test('an act on all begins after its screen was left: the person stays where they are', async () => {
    const { page, visit } = await open()
    await visit('executions?workflow_name=waits', 'Executions')
    await page.getByText('Act on all that match').click()
    await page.getByRole('button', { name: 'Show what it would change' }).click()
    const perform = page.getByRole('button', { name: /^Cancel \d+ executions?$/ })
    await perform.waitFor()
    const act = await hold(page, ({ pathname }) => pathname === '/executions/bulk')
    await perform.click()
    await act.untilHeld()
    await page.getByRole('link', { name: 'Schedules' }).click()
    await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor()
    await act.release()
    const cancelled = 'GET /executions?workflow_name=waits&state=CANCELLED&limit=1'
    await expect
      .poll(async () => Number((await fixture.auth.requestOk(cancelled)).total))
      .toBeGreaterThanOrEqual(3)
    await page.getByRole('link', { name: 'Secrets' }).click()
    await page.getByRole('heading', { level: 1, name: 'Secrets' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor()
  })

  test('another preview after an act on all: its panel stays open', async () => {
    const { page, visit } = await open()
    await visit('executions?workflow_name=waits', 'Executions')
    await page.getByText('Act on all that match').click()
    await page.getByLabel('Action').selectOption('Run again')
    const look = page.getByRole('button', { name: 'Show what it would change' })
    await look.click()
    await page.getByRole('button', { name: /^Run again \d+ executions$/ }).click()
    await page.waitForURL(/bulk=/)
    await page.getByText(/(\d+) of \1 done/).waitFor()
    await look.click()
    await page.getByText(/^It applies to \d+ executions\./).waitFor()
    expect(page.url()).not.toContain('bulk=')
  })

  test('a role has been granted: no other one is chosen for the next press', async () => {
    const { page, visit } = await open()
    await visit('access/ann', 'ann')
    const choice = page.getByRole('combobox', { name: 'Grant' })
    await choice.selectOption('viewer')
    const grant = page.getByRole('button', { name: 'Grant the role' })
    await grant.click()
    await page.getByRole('link', { name: 'viewer', exact: true }).waitFor()
    expect(await choice.inputValue()).toBe('')
    await grant.click()
    const { roles } = await fixture.auth.requestOk('GET /admin/principals/ann')
    expect(roles).toEqual(['viewer'])
  })

  test('a filter is typed and a state chosen before the address has followed: both count', async () => {
    const { page, visit } = await open()
    await visit('executions', 'Executions')
    await page.evaluate(
      `${type('Workflow', 'wai')}; document.querySelector('nav[aria-label="State"] a[href*="FAILED"]').click()`,
    )
    await page.waitForURL(/workflow_name=wai/)
    expect(page.url()).toContain('state=FAILED')
  })

  test('a key is pressed while the address follows a filter: it counts', async () => {
    const { page, visit } = await open()
    await visit('executions', 'Executions')
    await page.evaluate(
      `addEventListener('console:place', () => ${type('Workflow', 'waits')}, { once: true }); ${type('Workflow', 'wait')}`,
    )
    await page.waitForURL(/workflow_name=waits/)
    expect(await page.getByLabel('Workflow', { exact: true }).inputValue()).toBe('waits')
  })

  test.each([
    ['left', 'Schedules'],
    ['left and opened again', 'Run waits'],
  ])('a start is answered after its screen was %s: the person stays there', async (_, place) => {
    const { page, visit } = await open()
    await visit('start/default/waits', 'Run waits')
    const start = await hold(page, ({ pathname }) => pathname.endsWith('/run/async'))
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await start.untilHeld()
    await page.getByRole('link', { name: 'Schedules' }).click()
    await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor()
    if (place !== 'Schedules') await page.goBack()
    await page.getByRole('heading', { level: 1, name: place }).waitFor()
    const answer = page.waitForResponse((one) => one.url().includes('/run/async'))
    await start.release()
    await answer
    await page.getByRole('link', { name: 'Secrets' }).click()
    await page.getByRole('heading', { level: 1, name: 'Secrets' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: place }).waitFor()
  })

  test('a start is under way and a last input is taken over: no second start; the idempotency key stays', async () => {
    const { page, visit } = await open()
    await visit('start/default/waits', 'Run waits')
    await page.getByLabel('Idempotency key').fill('order-42')
    const start = await hold(page, ({ pathname }) => pathname.endsWith('/run/async'))
    const run = page.getByRole('button', { name: 'Run', exact: true })
    await run.click()
    await start.untilHeld()
    await page
      .getByRole('link', { name: /take over this input/ })
      .first()
      .click()
    await page.getByText('exactly as it is stored').waitFor()
    expect(await page.getByLabel('Idempotency key').inputValue()).toBe('order-42')
    expect(await run.isDisabled()).toBe(true)
    await start.release()
    await page.waitForURL(/executions\/[0-9a-f]{32}$/)
  })

  test('a role is read again late after its change: the new permissions, without the notice of a change by someone else', async () => {
    const { page, visit } = await open()
    await visit('roles/readers', 'readers')
    const text = page.getByLabel('Permissions, one in each line')
    await text.fill('workflow:team:*:run')
    await page.getByRole('button', { name: 'Show what changes' }).click()
    const make = page.getByRole('button', { name: 'Make the change' })
    await make.waitFor()
    let changed = 0
    // The first reading after the change is that of the form.
    const reading = await hold(page, ({ pathname }, method) => {
      if (pathname !== '/admin/roles/readers') return false
      if (method !== 'GET') changed = 1
      else if (changed > 0) changed++
      return changed > 2
    })
    await make.click()
    await reading.untilHeld()
    await expect.poll(() => text.inputValue()).toBe('workflow:team:*:run')
    await text.fill('workflow:team:*:run\nworkflow:team:*:read')
    await reading.release()
    await page.getByRole('button', { name: 'Show what changes' }).click()
    await make.waitFor()
    expect(await page.getByText('Changed by someone else').count()).toBe(0)
  })

  test('a list is half typed when the page is drawn again: it stays', async () => {
    const { page, visit } = await open()
    await visit('start/default/counts', 'Run counts')
    const field = page.getByRole('textbox', { name: /^numbers/i })
    await field.fill('[1, 2')
    const read = page.waitForResponse((response) => new URL(response.url()).pathname === '/me')
    await page.evaluate(`dispatchEvent(new Event('console:session-ended'))`)
    await read
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
    expect(await field.inputValue()).toBe('[1, 2')
  })

  test('an earlier file is answered after a later one: the later one is shown', async () => {
    const { page, visit } = await open()
    await visit('workflows', 'Workflows')
    const file = (name: string) => ({
      ...{ name: `${name}.py`, mimeType: 'text/x-python' },
      buffer: Buffer.from(queuedSource(name)),
    })
    const input = page.locator('input[type=file]')
    let isFirst = true
    const check = await hold(page, ({ pathname }, method) => {
      const isHeld = isFirst && method === 'POST' && pathname === '/workflows'
      if (isHeld) isFirst = false
      return isHeld
    })
    await input.setInputFiles(file('earlier'))
    await check.untilHeld()
    await input.setInputFiles(file('later'))
    const upload = page.getByRole('region', { name: 'Upload' })
    await upload.getByText('later.py').waitFor()
    await upload.getByRole('button', { name: 'Upload as new versions' }).waitFor()
    const answer = page.waitForResponse((one) => one.url().includes('dry_run'))
    await check.release()
    await answer
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
    expect(await upload.textContent()).not.toContain('earlier.py')
    expect(await upload.textContent()).toContain('later.py')
  })

  test('a second key is made slowly: the first one is not shown as the new one; after a refusal it is shown again', async () => {
    const { page, visit } = await open()
    await visit('access/ann', 'ann')
    await page.getByText('New key').click()
    await page.getByLabel('Name', { exact: true }).fill('one')
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByRole('status', { name: 'The new API key one' }).waitFor()
    const create = await hold(page, (_, method) => method === 'POST')
    await page.getByLabel('Name', { exact: true }).fill('two')
    await page.getByRole('button', { name: 'Create the key' }).click()
    await create.untilHeld()
    await expect.poll(() => page.getByRole('status', { name: /The new API key/ }).count()).toBe(0)
    await create.release()
    const second = page.getByRole('status', { name: 'The new API key two' })
    await second.waitFor()
    const key = await second.locator('code').textContent()
    // The name is taken.
    await page.getByLabel('Name', { exact: true }).fill('two')
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByRole('alert').waitFor()
    expect(await second.locator('code').textContent()).toBe(key)
  })
})
