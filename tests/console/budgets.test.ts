import pg from 'pg'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { AuthSystem } from '../security/auth-system.ts'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { queuedSource } from './queued-source.ts'
import { roundTrips, slowDown } from './slow-device.ts'
import { heapMegabytes, longestTask } from './task-times.ts'

const CALLS = 50_000
/** 16 MiB are the limit of a body. */
const INPUT_BYTES = 16_777_000
const PARALLEL = 20
/** Elapsed time depends on the load of the machine: it fails a test only as a hang limit. */
const HANG = 20
/** Limit for the begin of a large input, of which the best of some times counts. */
const INPUT_HANG = 5
const INPUT_TIMES = 3
/** Times of the processor may grow with the frequency of busy processors. */
const MARGIN = 2

/** The page, what it begins with, and the list. */
const ROUND_TRIPS = 3

const BASE = '/workflows/default/wait'
const ids = { timeline: '', input: '' }

async function startAll({ requestOk }: AuthSystem, count: number): Promise<string[]> {
  const started: string[] = []
  for (let i = 0; i < count; i += PARALLEL)
    started.push(
      ...(await Promise.all(
        Array.from({ length: PARALLEL }, async () => {
          const { execution_id = '' } = await requestOk(`POST ${BASE}/run/async`, { body: i })
          return execution_id
        }),
      )),
    )
  return started
}

/** Two entries for each of 50,000 calls of 20 tasks. */
const ENTRIES = `
  insert into executions.events (execution_id, seq, event_id, type, source_id, name, value, time)
  select $1::uuid, 1000 + n * 2 + o, 'e' || n || '-' || o,
    case o when 0 then 'TASK_STARTED' else 'TASK_COMPLETED' end, 'call_' || n, 'task ' || n % 20,
    '{"result":1}', to_char((now() + (n * 97 + o * 5000) * interval '1 ms') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS')
  from generate_series(1, ${CALLS}) n, generate_series(0, 1) o`

async function makeLongLog({ system }: AuthSystem, id: string): Promise<void> {
  const client = new pg.Client(system.database)
  await client.connect()
  try {
    await client.query(ENTRIES, [id])
    await client.query(
      `update executions.executions set last_seq = ${1_001 + 2 * CALLS}, revision = revision + 1 where execution_id = $1`,
      [id],
    )
  } finally {
    await client.end()
  }
}

const fixture = consoleFixture({
  isWanted: isWhole,
  prepare: async (auth) => {
    expect((await auth.upload(queuedSource('wait'))).status).toBe(200)
    const input = await auth.requestOk(`POST ${BASE}/run/async`, {
      raw: `"${'x'.repeat(INPUT_BYTES)}"`,
      headers: { 'content-type': 'application/json' },
    })
    ids.input = input.execution_id ?? ''
    const [timeline = ''] = await startAll(auth, PARALLEL)
    ids.timeline = timeline
    await makeLongLog(auth, timeline)
  },
})
const { obstacle } = fixture

const report = (what: string, values: Record<string, number>) =>
  process.stdout.write(`${what}: ${JSON.stringify(values)}\n`)

/** Opens an address of the console in an empty page, and measures until something is shown. */
async function timeTo(page: Page, path: string, shown: (page: Page) => Promise<unknown>) {
  await page.goto('about:blank')
  const begun = performance.now()
  await page.goto(`${fixture.url}/console/${path}`, { waitUntil: 'commit' })
  await shown(page)
  return Math.round(performance.now() - begun)
}

const firstRow = (page: Page) => page.locator('table.clickable tbody tr').first().waitFor()

describe.skipIf(obstacle)(`budgets${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('the list of executions with a cold cache: usable within the hang limit of 1 s', async () => {
    const { page } = await fixture.open(fixture.auth.admin)
    const cdp = await page.context().newCDPSession(page)
    const times: number[] = []
    for (let i = 0; i < 5; i++) {
      await cdp.send('Network.clearBrowserCache')
      times.push(await timeTo(page, 'executions', firstRow))
    }
    report('list, ms', { best: Math.min(...times), worst: Math.max(...times) })
    expect(Math.min(...times)).toBeLessThan(HANG * 1_000)
  })

  test('a cold cache, a slow processor and round trips of 150 ms: the list is usable after three of them', async () => {
    const { page } = await fixture.open(fixture.auth.admin)
    const cdp = await page.context().newCDPSession(page)
    await slowDown(cdp)
    const times: number[] = []
    const trips: number[] = []
    for (let i = 0; i < 3; i++) {
      await cdp.send('Network.clearBrowserCache')
      times.push(await timeTo(page, 'executions', firstRow))
      trips.push(await roundTrips(page, '/executions?'))
    }
    const [best, worst] = [Math.min(...times), Math.max(...times)]
    report('list on a slow device, ms', { best, worst, 'round trips': Math.min(...trips) })
    expect(best).toBeLessThan(HANG * 3_000)
    expect(Math.min(...trips)).toBe(ROUND_TRIPS)
  })

  test('a timeline of 100,000 events: drawn within the hang limit of 1.5 s, in at most 150 MB', async () => {
    const { page } = await fixture.open(fixture.auth.admin)
    const cdp = await page.context().newCDPSession(page)
    const path = `executions/${ids.timeline}?tab=timeline`
    const lanes = (at: Page) => at.getByText(/^50.000 calls$/).waitFor()
    const times = [await timeTo(page, path, lanes), await timeTo(page, path, lanes)]
    const heap = await heapMegabytes(cdp)
    report('timeline', { ms: Math.min(...times), megabytes: heap })
    expect(Math.min(...times)).toBeLessThan(HANG * 1_500)
    expect(heap).toBeLessThanOrEqual(150)
  })

  test('an input of 16 MiB: its begin is there within the hang limit of 1 s, and every part can be read', async () => {
    const { page } = await fixture.open(fixture.auth.admin)
    const text = page.getByLabel('Input, text')
    const cdp = await page.context().newCDPSession(page)
    const open = () =>
      timeTo(page, `executions/${ids.input}?tab=data`, () => text.getByText(/^"xxx/).waitFor())
    const times: number[] = []
    for (let i = 0; i < INPUT_TIMES; i++) {
      await cdp.send('Network.clearBrowserCache')
      times.push(await open())
    }
    const longest = await longestTask(fixture.browser, page, async () => {
      await open()
      await text.evaluate((element) => element.scrollTo(0, element.scrollHeight))
      await text.locator('pre').last().getByText(/x"$/).waitFor()
    })
    const [best, worst] = [Math.min(...times), Math.max(...times)]
    report('input of 16 MiB', { best, worst, 'longest task': longest })
    expect(best).toBeLessThan(INPUT_HANG * 1_000)
    expect(longest).toBeLessThan(MARGIN * 100)
  })
})
