import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { type FaultProxy, provideFaultProxy } from './fault-proxy.ts'
import { flawsOf } from './flaws-of.ts'
import type { WatchedPage } from './watched-page.ts'

const source = (task: string, member: string) => `from pydantic import BaseModel
from windlass import ExecutionContext, task, workflow


class Order(BaseModel):
    number: int
    ${member}: str


@task
async def ${task}(order):
    return order


@workflow.with_options(name="ship", affinity={"zone": "nowhere"}, secret_requests=["stock"])
async def ship(ctx: ExecutionContext[Order]):
    return await ${task}(ctx.input)
`

const BASE = '/workflows/default/ship'
const INPUT = '{"number":9007199254740993,"street":"A","a":1,"a":2}'
const ids = { first: '', second: '' }
let proxy: FaultProxy

const fixture = consoleFixture({
  isWanted: isWhole,
  prepare: async ({ upload, requestOk }) => {
    expect((await upload(source('load', 'street'))).status).toBe(200)
    const headers = { 'content-type': 'application/json' }
    const start = () => requestOk(`POST ${BASE}/run/async`, { raw: INPUT, headers })
    ids.first = (await start()).execution_id ?? ''
    expect((await upload(source('fetch', 'city'))).status).toBe(200)
    const input = { number: 1, city: 'B' }
    ids.second = (await requestOk(`POST ${BASE}/run/async`, { body: input })).execution_id ?? ''
    await requestOk(`GET ${BASE}/cancel/${ids.second}`)
    const schedule_config = { type: 'cron', cron_expression: '30 3 * * *' }
    await requestOk('POST /schedules', {
      body: { workflow_name: 'ship', name: 'nightly', input_data: input, schedule_config },
    })
  },
})
const { obstacle } = fixture

provideFaultProxy(fixture, (started) => {
  proxy = started
})

const open = (key = fixture.auth.admin) => fixture.open(key, { baseURL: proxy.url })

const FOLDER = fileURLToPath(new URL('../../docs/console/', import.meta.url))

/** Writes a picture of docs/console.md, if asked to as in screenshots.test.ts. */
async function takePicture({ page }: WatchedPage, name: string): Promise<void> {
  if (process.env.TEST_SCREENSHOTS !== '1') return
  await page.setViewportSize({ width: 1_200, height: 720 })
  await page.screenshot({ path: `${FOLDER}${name}.png` })
}

const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const requests = (text: string) => proxy.seen.filter((one) => one.startsWith(text)).length

/** Time in which a console that polls would have read the queue twice. */
const QUIET_MS = 7_000
const SLOW = { timeout: 60_000 }

describe.skipIf(obstacle)(`lists and starts${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('Home: what waits and since when, what failed lately; parts that need the same answer ask once', async () => {
    const { page, visit, findings } = await open()
    // The page after the sign-in has sent its last request.
    await expect.poll(() => requests('GET /events/stream')).toBeGreaterThan(0)
    proxy.seen = []
    await visit('', 'Home')
    const tile = (label: RegExp) => page.getByRole('link', { name: label })
    await tile(/^Waiting for a worker/)
      .getByText('oldest')
      .waitFor()
    // The page, and the stream of lists before it opens.
    expect(proxy.seen.filter((one) => one === 'GET /me').length).toBeLessThanOrEqual(2)
    expect(proxy.seen.filter((one) => one === 'GET /queue').length).toBe(1)
    expect(await tile(/^Waiting for a worker/).textContent()).toMatch(/worker1oldest .+/)
    expect(await tile(/^Failed in the last hour/).textContent()).toMatch(/hour0$/)
    const person = page.getByRole('region', { name: 'Needs attention' })
    await person.getByText('1 queued execution: no connected worker can run it').waitFor()
    expect(await findings()).toEqual([])
    await tile(/^Failed in the last hour/).click()
    await page.getByText('No execution matches').waitFor()
    expect(page.url()).toMatch(/\?state=FAILED&finished_after=/)
    expect(await page.getByLabel('Ended after').inputValue()).toMatch(/^20.*Z$/)
  })

  test('the filters of the list: names are offered once one of them has the focus', async () => {
    const { page, visit, findings } = await open()
    await visit('executions', 'Executions')
    const offered = page.locator('datalist option')
    expect(await offered.count()).toBe(0)
    await page.getByLabel('Workflow', { exact: true }).focus()
    await expect
      .poll(() => offered.evaluateAll((all) => all.map((one) => one.getAttribute('value'))))
      .toEqual(['ship', 'default'])
    expect(await findings()).toEqual([])
  })

  test('start: the last input is taken over exactly, and a key used twice starts once', async () => {
    const one = await open()
    const { page } = one
    await one.visit('start/default/ship?version=1', 'Run ship')
    const last = part(page, 'Last inputs').getByRole('link', { name: /take over/ })
    expect(await last.count()).toBe(2)
    await last.last().filter({ hasText: INPUT }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('exactly as it is stored').waitFor()
    expect(await page.getByLabel('Input (JSON)').inputValue()).toBe(INPUT)
    expect(await flawsOf(one)).toEqual([])
    const started: string[] = []
    for (let i = 0; i < 2; i++) {
      await one.visit(`start/default/ship?version=1&input_of=${ids.first}`, 'Run ship')
      await page.getByLabel('Idempotency key').fill('order-7')
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
      started.push(page.url())
    }
    expect(started[1]).toBe(started[0])
    expect(started[0]).not.toContain(ids.first)
  })

  test('start without the permission to read executions: the last inputs name it', async () => {
    const key = await fixture.auth.keyWith(['workflow:*:*:read', 'workflow:*:*:run'])
    const { page, visit } = await open(key)
    await visit('start/default/ship', 'Run ship')
    await part(page, 'Last inputs')
      .getByText(/execution:\*:read/)
      .waitFor()
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isEnabled()).toBe(true)
  })

  test('a version: what changed, its statistics, its schedules and secrets', async () => {
    const one = await open()
    const { page } = one
    await one.visit('workflows/default/ship?tab=changes', 'ship')
    await part(page, 'Input').getByText('Version 2 refuses inputs that version 1 takes.').waitFor()
    expect(await part(page, 'Input').getByRole('definition').allTextContents()).toEqual([
      ...['city', 'street', 'none'],
    ])
    expect(await part(page, 'Tasks').getByRole('definition').allTextContents()).toEqual([
      ...['load', 'fetch'],
    ])
    await page.getByText('+async def fetch(order):').waitFor()
    await takePicture(one, 'changes')
    expect(await flawsOf(one)).toEqual([])
    await one.visit('workflows/default/ship?tab=changes&version=1', 'ship')
    await page.getByText('Version 1 is the first').waitFor()
    await one.visit('workflows/default/ship?tab=statistics', 'ship')
    const rows = page.getByRole('table', { name: 'Versions' }).getByRole('row')
    await expect.poll(() => rows.count()).toBe(3)
    expect(await rows.nth(1).getByRole('cell').first().textContent()).toBe('1')
    expect(await flawsOf(one)).toEqual([])
    await one.visit('workflows/default/ship?tab=uses', 'ship')
    await part(page, 'Schedules').getByRole('link', { name: 'nightly' }).waitFor()
    await part(page, 'Secrets').getByRole('link', { name: 'stock' }).waitFor()
    await part(page, 'Configs').getByText('It has read none').waitFor()
    expect(await flawsOf(one)).toEqual([])
  })

  test('counts of the filter: exact for each state and version, and each narrows the list', async () => {
    const one = await open()
    const { page } = one
    await one.visit('executions?namespace=default&workflow_name=ship&state=CANCELLED', 'Executions')
    await page.getByRole('link', { name: 'counts' }).focus()
    await page.keyboard.press('Enter')
    const counts = part(page, 'Counts')
    await counts.getByRole('listitem').filter({ hasText: 'Cancelled' }).getByText('1').waitFor()
    const versions = counts
      .getByRole('navigation', { name: 'Counts by version' })
      .getByRole('listitem')
    // Of the cancelled ones the second version has one, and the first none.
    expect((await versions.allTextContents()).sort()).toEqual(['version 10', 'version 21'])
    await takePicture(one, 'counts')
    expect(await flawsOf(one)).toEqual([])
    await counts.getByRole('link', { name: 'Queued' }).click()
    await page.waitForURL(/state=SCHEDULED/)
    await page.getByTitle(ids.first).waitFor()
  })

  test('the queue: read on a change and not by time; by time without a stream', async () => {
    const { page, visit } = await open()
    await visit('queue', 'Queue')
    const depth = page.getByRole('table', { name: 'Queue' }).getByRole('cell').first()
    const before = Number(await depth.textContent())
    await page.waitForTimeout(QUIET_MS)
    const quiet = requests('GET /queue')
    await page.waitForTimeout(QUIET_MS)
    expect(requests('GET /queue')).toBe(quiet)
    await fixture.auth.requestOk(`POST ${BASE}/run/async`, { body: { number: 2, city: 'C' } })
    await expect.poll(() => depth.textContent(), SLOW).toBe(String(before + 1))
    proxy.fault = ({ path }) => (path.startsWith('/events/stream') ? 404 : undefined)
    proxy.breakAll()
    const polled = requests('GET /queue')
    await expect.poll(() => requests('GET /queue'), SLOW).toBeGreaterThan(polled + 1)
  })

  test('forms whose choices may not be read: disabled, with the permission', async () => {
    const key = await fixture.auth.keyWith([
      ...[
        'admin:principals:read',
        'admin:principals:manage',
        'schedule:*:read',
        'schedule:*:manage',
      ],
    ])
    const one = await open(key)
    const { page } = one
    await one.visit('access', 'Access')
    await page.getByText('New principal').click()
    await page.getByText('You need the permission admin:roles:read').waitFor()
    expect(await page.getByLabel('Roles').isDisabled()).toBe(true)
    expect(await flawsOf(one)).toEqual([])
    await one.visit('schedules', 'Schedules')
    await page.getByText('New schedule').click()
    await page.getByText('You need the permission workflow:*:read').waitFor()
    expect(await page.getByLabel('Workflow').isDisabled()).toBe(true)
  })

  test('an act on all that match, whose page is reloaded: it ends, and its address shows it', async () => {
    const { page, visit } = await open()
    await visit('executions?workflow_name=ship&state=SCHEDULED', 'Executions')
    await page.getByText('Act on all that match').click()
    await page.getByRole('button', { name: 'Show what it would change' }).click()
    await page.getByRole('button', { name: /^Cancel \d+ execution/ }).click()
    await page.waitForURL(/bulk=[0-9a-f]{32}/)
    await page.reload()
    await page.getByText(/ done, 0 refused\./).waitFor()
    await expect
      .poll(async () => (await fixture.auth.requestOk(`GET /executions/${ids.first}`)).state)
      .toBe('CANCELLED')
  })
})
