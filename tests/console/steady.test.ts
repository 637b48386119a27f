import { describe, expect, test, vi } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { type FaultProxy, provideFaultProxy } from './fault-proxy.ts'
import { KeyboardUser } from './keyboard-user.ts'
import { TOLERANCE_PX, topOf } from './places.ts'

const SOURCE = `from windlass import ExecutionContext, task, workflow


@task.with_options(requires_approval=True)
async def refund(order):
    return "refunded"


@workflow.with_options(name="give_back")
async def give_back(ctx: ExecutionContext):
    return await refund(ctx.input)


@workflow.with_options(name="wait", affinity={"zone": "nowhere"})
async def wait(ctx: ExecutionContext[str]):
    return ctx.input
`
const WAIT = { timeout: 60_000, interval: 100 }

let proxy: FaultProxy
const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async ({ upload, requestOk }) => {
    expect((await upload(SOURCE)).status).toBe(200)
    for (const name of ['first', 'second'])
      await requestOk('POST /admin/secrets', { body: { name, value: `the ${name} value` } })
  },
})
const { obstacle } = fixture

provideFaultProxy(fixture, (started) => {
  proxy = started
})

const open = () => fixture.open(fixture.auth.admin, { baseURL: proxy.url })

async function start(name: string): Promise<string> {
  const run = `POST /workflows/default/${name}/run/async`
  return (await fixture.auth.requestOk(run, { body: 'x' })).execution_id ?? ''
}

/** Starts an execution that waits for an approval. */
async function startPaused(): Promise<string> {
  const id = await start('give_back')
  const path = `GET /executions/${id}`
  await vi.waitFor(
    async () => expect((await fixture.auth.requestOk(path)).state).toBe('PAUSED'),
    WAIT,
  )
  return id
}

const cancel = (id: string) =>
  fixture.auth.requestOk(`GET /workflows/default/give_back/cancel/${id}`)

describe.skipIf(obstacle)(`rows in their place${obstacle ? `: ${obstacle}` : ''}`, () => {
  test.each([
    ['approvals', 'Approvals'],
    ['', 'Home'],
  ])(
    'approvals at "%s" that arrive or are decided elsewhere: none moves, and a press decides about its own',
    async (path, heading) => {
      const first = await startPaused()
      const { page, visit, findings } = await open()
      await visit(path, heading)
      const row = (id: string) => page.getByRole('listitem').filter({ has: page.getByTitle(id) })
      const approve = row(first).getByRole('button', { name: 'Approve' })
      const top = await topOf(approve)
      const second = await startPaused()
      await page.getByRole('button', { name: '1 more' }).waitFor()
      expect(await topOf(approve)).toBe(top)
      expect(await row(second).count()).toBe(0)
      await page.getByRole('button', { name: '1 more' }).click()
      const next = row(second).getByRole('button', { name: 'Approve' })
      const below = await topOf(approve)
      await next.click()
      await row(second).getByText('approved by you').waitFor()
      expect(await topOf(approve)).toBe(below)
      expect(await next.isDisabled()).toBe(true)
      const third = await startPaused()
      await page.getByRole('button', { name: '1 more' }).waitFor()
      await cancel(first)
      await row(first).getByText('waits for no decision now').waitFor()
      expect(await topOf(approve)).toBe(below)
      expect(await approve.isDisabled()).toBe(true)
      expect(await findings()).toEqual([])
      await cancel(third)
      await approve.waitFor({ state: 'detached' })
    },
  )

  test('a list: a selection and new rows move no row', async () => {
    const first = await start('wait')
    const { page, visit, findings } = await open()
    await visit('executions?workflow_name=wait', 'Executions')
    await page.getByRole('figure').waitFor()
    await page.getByText('Act on all that match').waitFor()
    const row = page.locator(`[data-row="${first}"]`).getByRole('checkbox')
    const top = await topOf(row)
    await row.check()
    await page.getByRole('region', { name: 'Selected executions' }).waitFor()
    expect(await topOf(row)).toBe(top)
    await start('wait')
    await page.getByRole('button', { name: '1 new' }).waitFor()
    expect(await topOf(row)).toBe(top)
    expect(await findings()).toEqual([])
  })

  test.each([1_280, 320])(
    'a list of %d pixels, whose parts are read late: no row moves',
    async (width) => {
      const id = await start('wait')
      const { page, goto } = await open()
      await page.setViewportSize({ width, height: 800 })
      let isHeld = true
      proxy.fault = ({ path }) =>
        isHeld && /\/(overview|bulk-panel)-/.test(path) ? 'unsent' : undefined
      await goto('executions?workflow_name=wait')
      const row = page.getByRole('row').filter({ has: page.getByTitle(id) })
      await row.waitFor()
      const top = await topOf(row)
      isHeld = false
      await page.getByRole('figure').waitFor()
      await page.getByText('Act on all that match').waitFor()
      expect(Math.abs((await topOf(row)) - top)).toBeLessThan(TOLERANCE_PX)
    },
  )
})

describe.skipIf(obstacle)(`one object after another${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('an execution is cancelled and another one opened: nothing of the first is shown with it', async () => {
    const [first, second] = [await start('wait'), await start('wait')]
    const { page, visit } = await open()
    await visit(`executions/${first}`, 'wait')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Cancel the execution' }).click()
    await page.getByText('Asked to cancel.').waitFor()
    await new KeyboardUser(page).open(second, 'wait')
    await page.getByText(second).first().waitFor()
    expect(await page.getByText('Asked to cancel.').count()).toBe(0)
  })

  test('the value of a secret is shown and another one opened: its value is not shown', async () => {
    const { page, visit } = await open()
    await visit('secrets/first', 'first')
    await page.getByRole('button', { name: 'Show the value' }).click()
    await page.getByText('the first value').waitFor()
    await page.evaluate(`(() => {
      history.pushState(null, '', document.baseURI + 'secrets/second')
      window.dispatchEvent(new PopStateEvent('popstate'))
    })()`)
    await page.getByRole('heading', { level: 1, name: 'second' }).waitFor()
    expect(await page.getByText('the first value').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Show the value' }).count()).toBe(1)
  })

  test('Ctrl+Enter within the frame of the last change: starts with the text as it is', async () => {
    const { page, visit } = await open()
    await visit('start/default/wait', 'Run wait')
    await page.getByLabel('Input (JSON)').fill('"before')
    await page.evaluate(`(async () => {
      const field = document.querySelector('textarea')
      field.value = '"after"'
      field.dispatchEvent(new Event('input', { bubbles: true }))
      await new Promise((done) => setTimeout(done))
      const options = { key: 'Enter', ctrlKey: true, bubbles: true }
      field.dispatchEvent(new KeyboardEvent('keydown', options))
    })()`)
    await page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
    await page.getByRole('link', { name: 'Input and output' }).click()
    expect(await page.getByLabel('Input, text').textContent()).toContain('"after"')
  })
})
