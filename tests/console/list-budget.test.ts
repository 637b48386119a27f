import { loadavg } from 'node:os'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { openAddress } from '../security/chromium.ts'
import { consoleFixture, isWhole, LIMIT_MS } from './console-fixture.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { queuedSource } from './queued-source.ts'
import { heapMegabytes, taskTimes } from './task-times.ts'

const ROWS = 1_000
const PARALLEL = 20
const BASE = '/workflows/default/wait'
/** The budget says 300: `npm run test:console-list`. */
const SECONDS = Number(process.env.TEST_CONSOLE_SECONDS ?? 20)
/** A trace of more seconds would not fit into its buffer. */
const TRACE_SECONDS = 20
const CHANGES_A_SECOND = 200
const TICK_MS = 50
/** Times of the processor may grow with the frequency of busy processors. */
const MARGIN = 2

interface Row extends Record<string, unknown> {
  execution_id: string
  revision: number
  worker_name: string
}

let proxy: FaultProxy
const fixture = consoleFixture({
  isWanted: isWhole,
  prepare: async ({ upload, requestOk }) => {
    expect((await upload(queuedSource('wait'))).status).toBe(200)
    const start = (i: number) => requestOk(`POST ${BASE}/run/async`, { body: i })
    for (let i = 0; i < ROWS; i += PARALLEL)
      await Promise.all(Array.from({ length: PARALLEL }, (_, n) => start(i + n)))
  },
})
const { obstacle } = fixture

beforeAll(async () => {
  if (!obstacle) proxy = await startFaultProxy(fixture.url, fixture.defer)
})

const report = (what: string, values: Record<string, number>) =>
  process.stdout.write(`${what}: ${JSON.stringify(values)}\n`)

/** Opens the list with all rows and its stream. */
async function openRows(page: Page): Promise<void> {
  await openAddress(page, `/console/executions?workflow_name=wait&limit=${ROWS}`)
  await page.locator('table.clickable tbody tr').first().waitFor()
  await page.getByText('live', { exact: true }).waitFor()
}

/** Collects the time between two frames, in milliseconds. */
const WATCH_FRAMES = `
  window.frameTimes = []
  let last = performance.now()
  const next = (now) => { frameTimes.push(now - last); last = now; requestAnimationFrame(next) }
  requestAnimationFrame(next)`

const P95 = 'frameTimes.sort((a, b) => a - b)[Math.floor(frameTimes.length * 0.95)]'

const STATES = ['CLAIMED', 'RUNNING', 'PAUSED', 'RESUMING', 'SCHEDULED']

/** Frames of changes of the rows, in the form of the server's, each row in turn. */
function* changesOf(rows: readonly Row[]): Generator<string> {
  for (let round = 1; ; round++)
    for (const [i, row] of rows.entries()) {
      const state = STATES[(round + i) % STATES.length]
      const revision = row.revision + round
      const changed = { ...row, state, revision, worker_name: `worker-${round}` }
      const data = JSON.stringify({ id: row.execution_id, revision, row: changed })
      yield `event: executions\ndata: ${data}\n\n`
    }
}

/** Sends changes at a steady rate; returns their number. */
async function sendChanges(page: Page, changes: Iterator<string>, seconds: number) {
  const begun = performance.now()
  let sent = 0
  for (let at = 0; at < seconds * 1_000; at = performance.now() - begun) {
    const due = Math.floor((at / 1_000) * CHANGES_A_SECOND)
    let frames = ''
    for (; sent < due; sent++) frames += changes.next().value
    if (frames !== '') proxy.inject('/events/stream', frames)
    await page.waitForTimeout(TICK_MS)
  }
  return sent
}

/** Measures the tasks of the page while changes are sent, in as many traces as needed. */
async function measureTasks(page: Page, changes: Iterator<string>) {
  const sum = { longest: 0, total: 0, sent: 0 }
  for (let seconds = 0; seconds < SECONDS; seconds += TRACE_SECONDS) {
    const { longest, total } = await taskTimes(fixture.browser, page, async () => {
      sum.sent += await sendChanges(page, changes, Math.min(TRACE_SECONDS, SECONDS - seconds))
    })
    sum.longest = Math.max(sum.longest, longest)
    sum.total += total
  }
  return sum
}

describe.skipIf(obstacle)(`1,000 rows${obstacle ? `: ${obstacle}` : ''}`, () => {
  // No system on two processors makes 200 changes a second together with a browser, so they are put into its stream.
  test(
    '200 changes a second: no task above 50 ms, no growth of the heap above 10 MB, the last is shown',
    async () => {
      const { page } = await fixture.open(fixture.auth.admin, { baseURL: proxy.url })
      const answer = await fixture.auth.requestOk(
        `GET /executions?workflow_name=wait&limit=${ROWS}`,
      )
      const executions = answer.executions as unknown as Row[]
      await openRows(page)
      const cdp = await page.context().newCDPSession(page)
      const changes = changesOf(executions)
      // Each row has changed once before the heap is measured.
      await sendChanges(page, changes, ROWS / CHANGES_A_SECOND)
      const before = await heapMegabytes(cdp)
      await page.evaluate(WATCH_FRAMES)
      const { longest, total, sent } = await measureTasks(page, changes)
      const p95 = Math.round(await page.evaluate<number>(P95))
      const heap = (await heapMegabytes(cdp)) - before
      report('1,000 rows', {
        ...{ 'changes a second': Math.round(sent / SECONDS), seconds: SECONDS },
        ...{ 'longest task': longest, 'busy ms a second': Math.round(total / SECONDS) },
        ...{ 'p95 frame': p95, 'more megabytes': heap, 'load of the machine': loadavg()[0] ?? 0 },
      })
      const newest = executions[0]?.execution_id ?? ''
      const row = page.getByRole('row').filter({ has: page.getByTitle(newest) })
      await row.getByText(/^worker-\d+$/).waitFor()
      expect(await page.locator('table.clickable tbody tr').count()).toBeLessThan(ROWS / 2)
      expect(longest).toBeLessThan(MARGIN * 50)
      expect(heap).toBeLessThanOrEqual(10)
    },
    LIMIT_MS,
  )

  test(
    'all of them are cancelled at once: each that comes into view is, and by keyboard too',
    async () => {
      const { page, findings } = await fixture.open(fixture.auth.admin)
      await openRows(page)
      await fixture.auth.requestOk('POST /executions/bulk', {
        body: { filter: { workflow_name: 'wait' }, action: 'cancel', expect: ROWS },
        headers: { accept: 'application/json' },
      })
      // They were started several at a time, so the order of the list is not that of the requests.
      const listed = await fixture.auth.requestOk(
        `GET /executions?workflow_name=wait&limit=${ROWS}`,
      )
      const rows = listed.executions as unknown as Row[]
      const [newest = '', oldest = ''] = [rows[0], rows.at(-1)].map((row) => row?.execution_id)
      const rowOf = (id: string) => page.getByRole('row').filter({ has: page.getByTitle(id) })
      await rowOf(newest).getByText('Cancelled').waitFor()
      expect(await rowOf(oldest).count()).toBe(0)
      await rowOf(newest).getByRole('checkbox').focus()
      await page.locator('main').evaluate((main) => main.scrollTo(0, main.scrollHeight))
      await rowOf(oldest).getByText('Cancelled').waitFor()
      expect(await rowOf(oldest).getAttribute('aria-rowindex')).toBe(String(ROWS + 1))
      // The row with the focus stays, wherever it is.
      await page.keyboard.press('Tab')
      expect(await page.evaluate('document.activeElement.textContent')).toBe('default/wait')
      expect(await findings()).toEqual([])
    },
    LIMIT_MS,
  )
})
