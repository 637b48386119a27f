import type { Page } from 'playwright-core'
import { describe, expect, test, vi } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { flawsOf } from './flaws-of.ts'
import { KeyboardUser } from './keyboard-user.ts'

const source = (finish: string) => `import uuid

from windlass import ExecutionContext, task, workflow


@task
async def draw(n):
    return uuid.uuid4().hex


@task
async def finish(drawn):
    ${finish}


@workflow.with_options(name="report")
async def report(ctx: ExecutionContext):
    return await finish(await draw(1))


@workflow.with_options(name="wait", affinity={"zone": "nowhere"})
async def wait(ctx: ExecutionContext):
    return ctx.input
`
const RUN = 'POST /workflows/default/report/run/async'
const WAIT = { timeout: 60_000, interval: 100 }
const SLOW = { timeout: 60_000 }
const READS = ['workflow:*:*:read', 'execution:*:read']
const INPUT = '{"order":9007199254740993}'

interface Row {
  execution_id: string
  origin_id: string | null
  origin_seq: number | null
  workflow_version: number
  state: string
}
type Entry = { seq: number; name: string; type: string; value: unknown }

const ids: string[] = []
/** The last entry before the call that failed, in each log. */
let after = 0

const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async ({ upload, requestOk }) => {
    expect((await upload(source('raise ValueError("broken")'))).status).toBe(200)
    const headers = { 'content-type': 'application/json' }
    for (let i = 0; i < 3; i++)
      ids.push((await requestOk(RUN, { raw: INPUT, headers })).execution_id ?? '')
    for (const id of ids)
      await vi.waitFor(
        async () => expect((await requestOk(`GET /executions/${id}`)).state).toBe('FAILED'),
        WAIT,
      )
    after =
      ((await logOf(ids[0] ?? '', requestOk)).find(({ name }) => name === 'finish')?.seq ?? 0) - 1
    expect((await upload(source('return drawn'))).status).toBe(200)
  },
})
const { obstacle } = fixture

async function logOf(id: string, requestOk = fixture.auth.requestOk): Promise<Entry[]> {
  const page = await requestOk(`GET /executions/${id}/log?limit=1000`)
  return (page as unknown as { entries: Entry[] }).entries
}

/** Forks of the three executions, oldest origin first, that are not among those seen before. */
async function forksOf(seen: readonly string[]): Promise<Row[]> {
  const page = await fixture.auth.requestOk('GET /executions?workflow_name=report&limit=100')
  const { executions } = page as unknown as { executions: Row[] }
  return executions
    .filter(({ execution_id, origin_id }) => origin_id && !seen.includes(execution_id))
    .sort((a, b) => ids.indexOf(a.origin_id ?? '') - ids.indexOf(b.origin_id ?? ''))
}
const idsOf = (rows: readonly Row[]) => rows.map(({ execution_id }) => execution_id)

const drawnIn = async (id: string) =>
  (await logOf(id)).find(({ name, type }) => name === 'draw' && type === 'TASK_COMPLETED')?.value

/** The input as it is stored. */
async function inputOf(id = ''): Promise<string> {
  const { admin, request } = fixture.auth
  return (await request(`GET /executions/${id}/input`, { token: admin })).text
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' })
const status = (page: Page) => page.getByRole('status')
async function openPanel(query: string, key = fixture.auth.admin) {
  const one = await fixture.open(key)
  await one.visit(`executions?${query}`, 'Executions')
  await one.page.getByText('Act on all that match').click()
  return one
}

describe.skipIf(obstacle)(`repeated runs${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('all that match, by keyboard: the preview says what runs again, and each fork keeps the outcomes before', async () => {
    const seen = idsOf(await forksOf([]))
    const one = await fixture.open(fixture.auth.admin)
    const { page } = one
    const user = new KeyboardUser(page)
    await one.visit('executions?workflow_name=report&version=1&state=FAILED', 'Executions')
    await user.enter(page.getByText('Act on all that match'))
    await user.tabTo(page.getByLabel('Action'))
    await user.press('End')
    await user.tabTo(page.getByLabel('After entry'))
    await user.replace(String(after))
    await user.tabTo(page.locator('.form-panel').getByLabel('Version'))
    await user.type('2')
    await user.enter(button(page, 'Show what it would change'))
    await status(page).getByText('It applies to 3 executions.').waitFor()
    await expect.poll(() => status(page).getByText('runs again: finish').count()).toBe(3)
    expect(await flawsOf(one)).toEqual([])
    await user.enter(button(page, 'Fork 3 executions'))
    await status(page).getByText('3 of 3 done, 0 refused.').waitFor()

    await vi.waitFor(async () => {
      const forks = await forksOf(seen)
      expect(forks.map(({ state }) => state)).toEqual(Array(3).fill('COMPLETED'))
    }, WAIT)
    const forks = await forksOf(seen)
    expect(forks).toMatchObject(
      ids.map((id) => ({ origin_id: id, origin_seq: after, workflow_version: 2 })),
    )
    for (const { execution_id, origin_id } of forks)
      expect(await drawnIn(execution_id)).toEqual(await drawnIn(origin_id ?? ''))
  })

  test('selected rows with another input: each is forked, with the input as it was typed', async () => {
    const seen = idsOf(await forksOf([]))
    const one = await fixture.open(fixture.auth.admin)
    const { page } = one
    const selected = ids.slice(0, 2).join(',')
    await one.visit(`executions?workflow_name=report&selected=${selected}`, 'Executions')
    const panel = page.getByRole('region', { name: 'Selected executions' })
    await panel.getByLabel('Action').selectOption('Fork')
    await button(page, 'Before the call that failed').click()
    await panel.getByText(/^before finish in /).waitFor()
    expect(await panel.getByLabel('After entry').inputValue()).toBe(String(after))
    await panel.getByLabel('Version').fill('2')
    await expect.poll(() => panel.getByText('runs again: finish').count()).toBe(2)
    await panel.getByText('With another input for all of them').click()
    await panel.getByLabel('Input (JSON)').fill('{"a":1.10,"a":2}')
    expect(await flawsOf(one)).toEqual([])
    await button(page, 'Fork 2 executions').click()
    await panel.getByText('2 of 2 done, 0 refused.').waitFor()
    const forks = await forksOf(seen)
    expect(forks).toMatchObject(ids.slice(0, 2).map((id) => ({ origin_id: id, origin_seq: after })))
    expect(await inputOf(forks[0]?.execution_id)).toBe('{"a":1.10,"a":2}')
  })

  test('more match than were shown: refused, nothing starts, and the preview has to be read again', async () => {
    const wait = 'POST /workflows/default/wait/run/async'
    await fixture.auth.requestOk(wait, { body: 1 })
    const { page } = await openPanel('workflow_name=wait')
    await page.getByLabel('Action').selectOption('Fork')
    await button(page, 'Show what it would change').click()
    await button(page, 'Fork 1 execution').waitFor()
    await fixture.auth.requestOk(wait, { body: 2 })
    await button(page, 'Fork 1 execution').click()
    await page.getByText('matches 2 executions, more than the 1 expected').waitFor()
    expect(await button(page, /^Fork \d/).count()).toBe(0)
    const { total } = await fixture.auth.requestOk('GET /executions?workflow_name=wait')
    expect(total).toBe(2)
    await button(page, 'Show what it would change').click()
    await button(page, 'Fork 2 executions').waitFor()
  })

  test('an entry after the end, a version that does not exist and wrong texts: each is named, and nothing starts', async () => {
    const { page } = await openPanel('workflow_name=report&version=1&state=FAILED')
    const panel = page.locator('.form-panel')
    await panel.getByLabel('Action').selectOption('Fork')
    const look = button(page, 'Show what it would change')
    for (const [label, text, problem] of [
      ['After entry', '1.5', 'After entry: must be a whole number from 0.'],
      ['Version', '0', 'Version: must be a whole number from 1.'],
    ] as const) {
      const before = await panel.getByLabel(label).inputValue()
      await panel.getByLabel(label).fill(text)
      await panel.getByRole('alert').getByText(problem).waitFor()
      expect(await look.isDisabled()).toBe(true)
      await panel.getByLabel(label).fill(before)
    }
    await panel.getByLabel('After entry').fill('100000')
    await look.click()
    await expect
      .poll(() =>
        status(page)
          .getByText(/must be at most \d+/)
          .count(),
      )
      .toBe(3)
    await panel.getByLabel('After entry').fill('0')
    await panel.getByLabel('Version').fill('99')
    await look.click()
    await expect
      .poll(() =>
        status(page)
          .getByText(/not found/i)
          .count(),
      )
      .toBe(3)
  })

  test('a reader: both panels show the act disabled, with the missing permission', async () => {
    const key = await fixture.auth.keyWith(READS)
    const one = await openPanel(`workflow_name=report&selected=${ids[0]}`, key)
    const { page } = one
    const missing = 'You need the permission workflow:default:report:run'
    const panel = page.locator('.form-panel')
    await panel.getByLabel('Action').selectOption('Fork')
    await button(page, 'Show what it would change').click()
    const selection = page.getByRole('region', { name: 'Selected executions' })
    await selection.getByLabel('Action').selectOption('Fork')
    for (const part of [panel, selection]) {
      const fork = part.getByRole('button', { name: /^Fork \d/ })
      await fork.waitFor()
      await expect.poll(() => fork.isDisabled()).toBe(true)
      expect(await fork.getAttribute('title')).toBe(missing)
      await part.getByText(missing).first().waitFor()
    }
    expect(await flawsOf(one)).toEqual([])
    await one.goto(`executions/${ids[0]}?tab=log`)
    const link = button(page, `Fork after entry ${after}`)
    await link.waitFor()
    expect([await link.isDisabled(), await link.getAttribute('title')]).toEqual([true, missing])
  })

  test('one execution from an entry of its log, with another version: what was typed stays', async () => {
    const one = await fixture.open(fixture.auth.admin)
    const { page } = one
    await one.goto(`executions/${ids[2]}?tab=log`)
    await page.getByRole('link', { name: `Fork after entry ${after}`, exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Fork' }).waitFor()
    await page.getByText('With another input').click()
    await page.getByLabel('Input (JSON)').fill('{"b":1.0}')
    await page.getByLabel('Version').selectOption('2')
    await page.waitForURL(/version=2/)
    await page.getByRole('region', { name: 'Runs again' }).getByText('finish').waitFor()
    expect(await flawsOf(one)).toEqual([])
    await button(page, 'Start the fork').click()
    await page.getByRole('main').getByText('Completed').first().waitFor(SLOW)
    const [, id = ''] = /executions\/([0-9a-f]{32})/.exec(page.url()) ?? []
    expect(await inputOf(id)).toBe('{"b":1.0}')
    expect(await drawnIn(id)).toEqual(await drawnIn(ids[2] ?? ''))
  })
})
