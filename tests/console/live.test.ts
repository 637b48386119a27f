import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { openAddress } from '../security/chromium.ts'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { type Fault, type FaultProxy, provideFaultProxy } from './fault-proxy.ts'
import { queuedSource } from './queued-source.ts'

let proxy: FaultProxy
const fixture = consoleFixture({
  isWanted: isWhole,
  prepare: async (auth) => {
    expect((await auth.upload(queuedSource('wait'))).status).toBe(200)
  },
})
const { obstacle } = fixture

provideFaultProxy(fixture, (started) => {
  proxy = started
})

const STREAM = 'GET /events/stream'
const LIST = /^GET \/executions\?(?!.*state=)/
const BASE = '/workflows/default/wait'
/** Longer than the console postpones a request for a change, and than one that polls takes for two. */
const QUIET_MS = 12_000
/** Each attempt waits longer than the one before. */
const SLOW = { timeout: 90_000 }

const requests = (pattern: RegExp | string) =>
  proxy.seen.filter((one) =>
    typeof pattern === 'string' ? one.startsWith(pattern) : pattern.test(one),
  ).length

/** Starts an execution that stays in the queue; returns its id. */
async function start(): Promise<string> {
  const answer = await fixture.auth.requestOk(`POST ${BASE}/run/async`, { body: 'x' })
  return answer.execution_id ?? ''
}

const cancel = (id: string) => fixture.auth.requestOk(`GET ${BASE}/cancel/${id}`)

const rowOf = (page: Page, id: string) => page.getByRole('row').filter({ has: page.getByTitle(id) })
const live = (page: Page) => page.getByText('live', { exact: true })

/** Opens the list in the page and waits for its stream. */
async function openList(page: Page, query = ''): Promise<void> {
  await openAddress(page, `/console/executions${query}`)
  await live(page).waitFor(SLOW)
}

const open = (key = fixture.auth.admin, init?: (page: Page) => Promise<unknown>) =>
  fixture.open(key, { baseURL: proxy.url }, init && (({ page }) => init(page)))

/** A fault of the next streams, as many as are given. */
function faultStreams(...faults: Fault[]): void {
  proxy.fault = ({ path }) => (path.startsWith('/events/stream') ? faults.shift() : undefined)
}

describe.skipIf(obstacle)(`changes of lists${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('a list that is open: rows change in place, new ones wait, and nothing is polled', async () => {
    const [first] = [await start()]
    const { page } = await open()
    await openList(page, '?workflow_name=wait')
    await rowOf(page, first).getByText('Queued').waitFor()
    await page.waitForTimeout(QUIET_MS)
    const before = requests(LIST)
    await page.waitForTimeout(QUIET_MS)
    expect(requests(LIST)).toBe(before)
    const next = await start()
    await page.getByRole('button', { name: '1 new' }).waitFor()
    expect(await rowOf(page, next).count()).toBe(0)
    await cancel(first)
    await rowOf(page, first).getByText('Cancelled').waitFor()
    expect(await rowOf(page, next).count()).toBe(0)
    await page.getByRole('button', { name: '1 new' }).click()
    await rowOf(page, next).waitFor()
  })

  test('three tabs: one stream for all; its tab is closed, and the next one resumes', async () => {
    const one = await open()
    const context = one.page.context()
    const streams = requests(STREAM)
    const pages = [one.page, await context.newPage(), await context.newPage()]
    for (const page of pages) await openList(page)
    expect(requests(STREAM) - streams).toBeLessThanOrEqual(2)
    const opened = requests(STREAM)
    const id = await start()
    for (const page of pages) await page.getByRole('button', { name: /new$/ }).waitFor()
    expect(requests(STREAM)).toBe(opened)
    await pages[0]?.close()
    await expect.poll(() => requests(STREAM)).toBe(opened + 1)
    for (const page of pages.slice(1)) await page.getByRole('button', { name: /new$/ }).click()
    await cancel(id)
    for (const page of pages.slice(1)) await rowOf(page, id).getByText('Cancelled').waitFor()
  })

  test('a stream that breaks off, repeats itself and is refused: each change is shown once', async () => {
    faultStreams('cut', 'doubled', 503, 'unsent', 'doubled')
    const { page } = await open()
    await openList(page)
    const ids = [await start(), await start()]
    await page.getByRole('button', { name: /^[1-9].* new$/ }).click()
    for (const id of ids) await expect.poll(() => rowOf(page, id).count(), SLOW).toBe(1)
    await cancel(ids[0] ?? '')
    await rowOf(page, ids[0] ?? '')
      .getByText('Cancelled')
      .waitFor(SLOW)
    for (const id of ids) expect(await rowOf(page, id).count()).toBe(1)
  })

  test('no stream at all: the page says so and reads the list by time', async () => {
    proxy.fault = ({ path }) => (path.startsWith('/events/stream') ? 404 : undefined)
    const { page } = await open()
    await openAddress(page, '/console/executions')
    await page.getByText('read every 2 s').waitFor()
    const id = await start()
    await page.getByRole('button', { name: /new$/ }).click()
    await rowOf(page, id).waitFor()
  })

  test('the gateway is away and returns: what is shown says so, and then it is live again', async () => {
    const { page } = await open()
    await openList(page)
    proxy.fault = () => 'unsent'
    proxy.breakAll()
    await page.getByText(/The server cannot be reached.*What you see was read/).waitFor()
    expect(await live(page).count()).toBe(0)
    const id = await start()
    proxy.fault = () => undefined
    await live(page).waitFor(SLOW)
    await page.getByRole('button', { name: /new$/ }).click()
    await rowOf(page, id).waitFor()
  })

  test('rights are taken: the list is refused, and rights that are given again show it', async () => {
    const { key, subject } = await fixture.auth.createAccount(['viewer'], 'watcher')
    const id = await start()
    const { page } = await open(key)
    await openList(page)
    await rowOf(page, id).waitFor()
    await fixture.auth.requestOk(`DELETE /admin/principals/${subject}/roles/viewer`)
    await page.getByText(/You may not see this.*execution:\*:read.*was read/).waitFor(SLOW)
    await fixture.auth.requestOk(`POST /admin/principals/${subject}/roles`, {
      body: { role: 'viewer' },
    })
    await page.reload()
    await live(page).waitFor(SLOW)
  })

  test('storage is forbidden, and with it the lock of tabs: each has a stream of its own', async () => {
    // An empty page, which a new tab shows first, has no locks.
    const forbid = `
      if (navigator.locks) navigator.locks.request = () => Promise.reject(new DOMException('forbidden', 'SecurityError'))
      window.BroadcastChannel = class { constructor() { throw new DOMException('forbidden', 'SecurityError') } }`
    const { page } = await open(undefined, (fresh) => fresh.context().addInitScript(forbid))
    const other = await page.context().newPage()
    for (const each of [page, other]) await openList(each)
    const id = await start()
    for (const each of [page, other]) {
      await each.getByRole('button', { name: /new$/ }).click()
      await rowOf(each, id).waitFor()
    }
  })

  test('an execution that is open: follows its own stream, which resumes, and reads nothing between', async () => {
    const id = await start()
    const { page, visit } = await open()
    const own = `GET /executions/${id}/events`
    faultOwn(own)
    await visit(`executions/${id}`, 'wait')
    await expect.poll(() => requests(own), SLOW).toBeGreaterThan(1)
    await page.waitForTimeout(QUIET_MS)
    const detail = new RegExp(`^GET /executions/${id}(\\?|$)`)
    const before = requests(detail)
    await page.waitForTimeout(QUIET_MS)
    expect(requests(detail)).toBe(before)
    await cancel(id)
    await page.getByRole('main').getByText('Cancelled').first().waitFor()
  })

  test('an open execution whose tab is hidden: no stream of its own until the tab is visible again', async () => {
    const id = await start()
    const { page, visit } = await open()
    const own = `GET /executions/${id}/events`
    await visit(`executions/${id}`, 'wait')
    await expect.poll(() => requests(own), SLOW).toBe(1)
    const ended = page.getByRole('main').getByText('Cancelled', { exact: true })
    await setHidden(page, true)
    await cancel(id)
    await page.waitForTimeout(QUIET_MS)
    expect(await ended.count()).toBe(0)
    expect(requests(own)).toBe(1)
    await setHidden(page, false)
    await ended.first().waitFor()
    expect(requests(own)).toBe(2)
  })

  test('rows of an open execution that repeat its state: not read again; one with another state: read once', async () => {
    const id = await start()
    const { page, visit } = await open()
    await visit(`executions/${id}`, 'wait')
    const detail = new RegExp(`^GET /executions/${id}\\?`)
    await expect.poll(() => requests(`GET /executions/${id}/events`), SLOW).toBeGreaterThan(0)
    const { executions } = (await fixture.auth.requestOk('GET /executions?limit=1')) as never
    const [row] = executions as [Record<string, unknown>]
    let sent = 0
    const send = (changes: Record<string, unknown>) => {
      const revision = Number(row.revision) + ++sent
      const data = JSON.stringify({ id, revision, row: { ...row, revision, ...changes } })
      proxy.inject('/events/stream', `event: executions\ndata: ${data}\n\n`)
    }
    await page.waitForTimeout(QUIET_MS)
    const before = requests(detail)
    for (let i = 0; i < 3; i++) {
      send({})
      await page.waitForTimeout(1_000)
    }
    await page.waitForTimeout(QUIET_MS)
    expect(requests(detail) - before).toBe(0)
    send({ state: 'CLAIMED' })
    await expect.poll(() => requests(detail) - before).toBe(1)
  })
})

/** Lets the page believe that its tab is hidden, which a browser without windows never does. */
const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })
    document.dispatchEvent(new Event('visibilitychange'))`)

/** Breaks the first stream off. */
function faultOwn(own: string): void {
  const left: Fault[] = ['unsent']
  proxy.fault = ({ method, path }) =>
    `${method} ${path}`.startsWith(own) ? left.shift() : undefined
}
