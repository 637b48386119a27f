import { readFileSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { consoleFixture, isWhole, LIMIT_MS } from './console-fixture.ts'
import { screensOf, seed } from './console-seed.ts'
import type { WatchedPage } from './watched-page.ts'

/** Levels of arrays and objects that a payload may have. */
const MAX_DEPTH = 512
const WAIT = { timeout: 60_000, interval: 100 }
/** Markup, marks of direction, a formula of spreadsheets. */
const MARKUP = '<script>window.ran=1</script><img src=x onerror="window.ran=1">'
const HOSTILE = `=HYPERLINK("http://evil.example")${MARKUP}\u202egnp.exe\u2066`
/** A name that the server takes: without `/` and marks. */
const NAME = '=1+1<b><img src=x onerror="window.ran=1">'
/** With ANSI codes, which fields that are names refuse. */
const WITH_CONTROLS = `${HOSTILE}\u001b[31m\u0007\r`

const SOURCE = `from windlass import ExecutionContext, task, workflow

HOSTILE = ${JSON.stringify(WITH_CONTROLS)}


@task.with_options(name=${JSON.stringify(HOSTILE)})
async def step(order):
    print(HOSTILE)
    return HOSTILE


@workflow.with_options(name="hostile")
async def hostile(ctx: ExecutionContext):
    await step(ctx.input)
    raise ValueError(HOSTILE)
`

/** Writes a line of a megabyte, and fails with one. */
const LONG_SOURCE = `from windlass import ExecutionContext, workflow


@workflow.with_options(name="long_lines")
async def long_lines(ctx: ExecutionContext):
    print("x" * 1_048_576)
    raise ValueError("y" * 1_048_576)
`

let ids: Record<string, string> = {}
let addresses: string[] = []
const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async (auth) => {
    ids = await seed(auth)
    const { requestOk, upload } = auth
    const uploaded = await upload(SOURCE)
    expect([uploaded.status, await uploaded.text()]).toEqual([200, expect.anything()])
    const run = 'POST /workflows/default/hostile/run/async'
    const { execution_id = '' } = await requestOk(run, { body: { [HOSTILE]: WITH_CONTROLS } })
    const large = await requestOk(run, { body: 'x'.repeat(1_048_576) })
    for (const kind of ['secrets', 'configs'])
      await requestOk(`POST /admin/${kind}`, { body: { name: NAME, value: WITH_CONTROLS } })
    const schedule = await requestOk('POST /schedules', {
      body: {
        ...{ workflow_name: 'hostile', name: NAME, description: MARKUP },
        ...{ input_data: WITH_CONTROLS },
        schedule_config: { type: 'interval', interval_seconds: 3_600 },
      },
    })
    expect((await upload(LONG_SOURCE)).status).toBe(200)
    const long = await requestOk('POST /workflows/default/long_lines/run/async')
    for (const id of [large.execution_id, long.execution_id])
      await vi.waitFor(
        async () => expect((await requestOk(`GET /executions/${id}`)).state).toBe('FAILED'),
        WAIT,
      )
    const tabs = ['timeline', 'log', 'lines', 'data', 'why', 'approvals', 'source']
    const name = encodeURIComponent(HOSTILE)
    const stored = encodeURIComponent(NAME)
    addresses = [
      ...screensOf(ids).map(([path]) => path),
      ...tabs.map((tab) => `executions/${execution_id}?tab=${tab}`),
      ...['data', 'log'].map((tab) => `executions/${large.execution_id}?tab=${tab}`),
      ...tabs.map((tab) => `executions/${long.execution_id}?tab=${tab}`),
      ...[`compare/${execution_id}/${large.execution_id}`, `fork/${execution_id}`],
      ...[`schedules/${schedule.id}`, ...['secrets', 'configs'].map((kind) => `${kind}/${stored}`)],
      ...['executions?group=error', `executions?error=${name}&created_after=${name}`],
      ...[`executions/${name}`, `workflows/${name}/${name}`, `roles/${name}`, `${name}/${name}`],
    ]
  },
})
const { obstacle } = fixture

/** Elements that only a text that was taken for markup could have made, and its script's mark. */
const FOREIGN = `[document.querySelectorAll('#app script, #app img, #app iframe').length, String(window.ran)]`

async function settled({ page }: WatchedPage): Promise<void> {
  await page.locator('h1, [role="alert"]').first().waitFor()
  await expect.poll(() => page.getByLabel('Loading').count()).toBe(0)
}

const FIELDS =
  'main :is(textarea, input:not([type]), input[type="text"], input[type="search"]):enabled:visible'

/** Types the text into every field of the screen, those of closed forms too; returns their number. */
async function fillAll({ page }: WatchedPage): Promise<number> {
  for (const summary of await page.locator('main summary').all()) await summary.click()
  let filled = 0
  for (const field of await page.locator(FIELDS).elementHandles()) {
    // What was typed into another field may have disabled or removed it.
    if (!(await field.isVisible()) || !(await field.isEnabled())) continue
    await field.fill(HOSTILE)
    filled++
  }
  return filled
}

describe.skipIf(obstacle)(`hostile text${obstacle ? `: ${obstacle}` : ''}`, () => {
  test(
    'in everything that is stored, and in addresses: text on every screen, and nothing is cut off at 320 pixels',
    async () => {
      const one = await fixture.open(fixture.auth.admin, { viewport: { width: 320, height: 800 } })
      const found: Record<string, unknown> = {}
      for (const path of addresses) {
        await one.goto(path)
        await settled(one)
        const [elements, ran] = await one.page.evaluate<[number, string]>(FOREIGN)
        const excess = (await one.contentWidth()) - 320
        if (elements > 0 || ran !== 'undefined' || excess > 0) found[path] = [elements, ran, excess]
      }
      expect(found).toEqual({})
    },
    LIMIT_MS,
  )

  test(
    'typed into every field of every screen: no error of the page, nothing runs',
    async () => {
      const one = await fixture.open(fixture.auth.admin)
      let fields = 0
      for (const path of addresses.slice(0, screensOf(ids).length)) {
        await one.goto(path)
        await settled(one)
        fields += await fillAll(one)
        await settled(one)
        expect(await one.page.evaluate(FOREIGN), path).toEqual([0, 'undefined'])
      }
      process.stdout.write(`hostile text was typed into ${fields} fields\n`)
      expect(fields).toBeGreaterThan(20)
    },
    LIMIT_MS,
  )

  test('an input as deep as the server takes: shown exactly, and one level more is refused with the reason', async () => {
    const { page, visit } = await fixture.open(fixture.auth.admin)
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    await visit('start/default/hostile', 'Run hostile')
    await page.getByLabel('Input (JSON)').fill(nested(MAX_DEPTH + 1))
    await page.getByText(/depth|deep|nest/i).waitFor()
    const run = page.getByRole('button', { name: 'Run', exact: true })
    expect(await run.isDisabled()).toBe(true)
    await page.getByLabel('Input (JSON)').fill(nested(MAX_DEPTH))
    await run.click()
    await page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
    await page.getByRole('link', { name: 'Input and output' }).click()
    await page.getByRole('button', { name: 'As stored' }).first().click()
    expect(await page.getByLabel('Input, text').textContent()).toBe(nested(MAX_DEPTH))
  })

  test('in a CSV file: no cell begins with what a spreadsheet computes', async () => {
    const { page, visit } = await fixture.open(fixture.auth.admin)
    await visit('executions?workflow_name=hostile', 'Executions')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Export CSV/ }).click(),
    ])
    const text = readFileSync(await file.path(), 'utf8')
    expect(text).toContain('HYPERLINK')
    expect(text).not.toMatch(/(?:^|,|\n)"?[=+\-@\t\r]/)
  })
})
