import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { type FaultProxy, provideFaultProxy } from './fault-proxy.ts'
import { longestTask } from './task-times.ts'

const MAX_BODY = 16 * 1_048_576
const EXECUTION = /console\/executions\/([0-9a-f]{32})$/
const MAX_SOURCE = 1_048_576
const PASTED = 5_000_000
/** Milliseconds for which a page may be blocked; a busy machine takes longer. */
const BLOCKED_MS = 100
const MARGIN = 5
const SOURCE = `from pydantic import BaseModel

from windlass import ExecutionContext, workflow


class Order(BaseModel):
    number: int = 1
    note: str = ""
    address: str = ""
    items: list[str] = []


@workflow.with_options(name="orders", affinity={"zone": "nowhere"})
async def orders(ctx: ExecutionContext[Order]):
    return ctx.input
`

let proxy: FaultProxy
const fixture = consoleFixture({
  isWanted: isWhole,
  prepare: async ({ upload }) => {
    expect((await upload(SOURCE)).status).toBe(200)
  },
})
const { obstacle } = fixture

provideFaultProxy(fixture, (started) => {
  proxy = started
})

const open = () => fixture.open(fixture.auth.admin, { baseURL: proxy.url })
const input = (page: Page) => page.getByLabel('Input (JSON)')
const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true })
const sent = (begin: string) => proxy.seen.filter((one) => one.startsWith(begin)).length

/** Pastes the value of a JavaScript expression in the place of the input. */
async function paste(page: Page, text: string): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate(`navigator.clipboard.writeText(${text})`)
  await input(page).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Control+v')
}

/** A list of lines in an object. */
const LINES = `'{"items":[' + ('"' + 'word '.repeat(200) + '",\\n').repeat(${PASTED} / 1000).slice(0, -2) + ']}'`

const lengthOf = async (page: Page) =>
  Number((await page.getByText(/ characters$/).textContent())?.replaceAll(/\D/g, ''))

describe.skipIf(obstacle)(`large requests${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('an input above the limit of a body: says so before it is sent, and the text stays', async () => {
    const { page, visit } = await open()
    await visit('start/default/orders', 'Run orders')
    await paste(page, `'"' + 'x'.repeat(${MAX_BODY}) + '"'`)
    await run(page).click()
    await page.getByText(/16.777.218 bytes.*at most 16.777.216/).waitFor()
    expect([await lengthOf(page), sent('POST /workflows')]).toEqual([MAX_BODY + 2, 0])
    await page.getByRole('button', { name: 'Clear' }).click()
    await input(page).fill('{}')
    await run(page).click()
    await page.waitForURL(EXECUTION)
  })

  test('a proxy has a smaller limit: its refusal is shown once, and the text stays', async () => {
    const { page, visit } = await open()
    await visit('start/default/orders', 'Run orders')
    await input(page).fill('{"note":"kept"}')
    const before = sent('POST /workflows')
    proxy.fault = ({ method }) => (method === 'POST' ? 413 : undefined)
    await run(page).click()
    await page.getByText('Too large: injected').waitFor()
    expect(await input(page).inputValue()).toBe('{"note":"kept"}')
    expect(sent('POST /workflows') - before).toBe(1)
  })

  test('an input of 5 MB is pasted: the page is not blocked, and all of it is sent; so it is from a file', async () => {
    const { page, visit, findings } = await open()
    await visit('start/default/orders', 'Run orders')
    const longest = await longestTask(fixture.browser, page, async () => {
      await paste(page, LINES)
      await page.getByText('too long to be edited here').waitFor()
    })
    const length = await lengthOf(page)
    process.stdout.write(`input of 5 MB: ${JSON.stringify({ 'longest task': longest, length })}\n`)
    expect(length).toBeGreaterThan(PASTED)
    expect(await findings()).toEqual([])
    await run(page).click()
    await page.waitForURL(EXECUTION)
    const id = EXECUTION.exec(page.url())?.[1]
    const stored = await fixture.auth.requestOk(`GET /executions/${id}?payloads=full`)
    expect(JSON.stringify(stored.input).length).toBeGreaterThan(PASTED)
    expect(longest).toBeLessThan(MARGIN * BLOCKED_MS)
    const path = join(temporaryFolder('large-input'), 'input.json')
    await writeFile(path, '{"note":"of a file"}')
    await page.getByRole('link', { name: 'Run again' }).click()
    await page.getByText('too long to be edited here').waitFor()
    await page.getByLabel('Input from a file').setInputFiles(path)
    await expect.poll(() => input(page).inputValue()).toBe('{"note":"of a file"}')
  })

  test('a source above the limit of an upload: says so before it is sent', async () => {
    const path = join(temporaryFolder('large-source'), 'large.py')
    await writeFile(path, `# ${'x'.repeat(MAX_SOURCE)}`)
    const { page, visit } = await open()
    await visit('workflows', 'Workflows')
    const before = sent('POST /workflows')
    await page.locator('input[type="file"]').setInputFiles(path)
    await page.getByText(/large\.py: .*1.048.578 bytes.*at most 1.048.576/).waitFor()
    expect(sent('POST /workflows')).toBe(before)
  })
})
