import { describe, expect, test, vi } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { hold } from './held-requests.ts'

const SOURCE = `from windlass import ExecutionContext, pause, task, workflow


@task.with_options(requires_approval=True)
async def refund():
    return "refunded"


@workflow.with_options(name="asks")
async def asks(ctx: ExecutionContext):
    return [await pause("first"), await pause("second")]


@workflow.with_options(name="give_back")
async def give_back(ctx: ExecutionContext):
    return await refund()
`

const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async ({ upload }) => {
    expect((await upload(SOURCE)).status).toBe(200)
  },
})
const { obstacle } = fixture

const waitForState = (id: string, state: string) =>
  vi.waitFor(
    async () => expect((await fixture.auth.requestOk(`GET /executions/${id}`)).state).toBe(state),
    { timeout: 60_000, interval: 100 },
  )

/** Runs a workflow until it pauses; returns the id and the page of the execution. */
async function openPaused(name: string) {
  const run = `POST /workflows/default/${name}/run/async`
  const { execution_id: id = '' } = await fixture.auth.requestOk(run, { body: null })
  await waitForState(id, 'PAUSED')
  const opened = await fixture.open(fixture.auth.admin)
  await opened.visit(`executions/${id}`, name)
  return { id, ...opened }
}

describe.skipIf(obstacle)(`resumes${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('pauses that ask for an input: the JSON is sent exactly as typed, and null without one', async () => {
    const { id, page, findings } = await openPaused('asks')
    const resume = page.getByRole('button', { name: 'Resume this execution' })
    const send = page.getByRole('button', { name: 'Resume the execution' })
    await resume.click()
    const input = page.getByLabel('Input (JSON)')
    await input.fill('{"n": ')
    expect(await send.isDisabled()).toBe(true)
    await input.fill('{"n":9007199254740993}')
    expect(await findings()).toEqual([])
    await send.click()
    await page.getByText('Resumed.').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    await waitForState(id, 'PAUSED')
    await resume.click()
    await send.click()
    await waitForState(id, 'COMPLETED')
    const { text } = await fixture.auth.request(`GET /executions/${id}/output`, {
      token: fixture.auth.admin,
    })
    expect(text).toBe('[{"n":9007199254740993},null]')
  })

  test('an execution that waits for an approval: its resume is disabled, and leads to the approval', async () => {
    const { id, page, findings } = await openPaused('give_back')
    await page.getByRole('link', { name: 'Log', exact: true }).click()
    const resume = page.getByRole('button', { name: 'Resume this execution' })
    const link = page.getByRole('link', { name: 'waits for an approval' })
    await link.waitFor()
    expect(await resume.isDisabled()).toBe(true)
    expect(await resume.getAttribute('title')).toContain('waits for an approval')
    expect(await findings()).toEqual([])
    await link.click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await waitForState(id, 'COMPLETED')
  })

  test('a resume is under way and its dialog is closed: no second one can be sent', async () => {
    const { id, page } = await openPaused('asks')
    const resume = page.getByRole('button', { name: 'Resume this execution' })
    const request = await hold(page, ({ pathname }) => pathname.includes('/resume/'))
    await resume.click()
    await page.getByRole('button', { name: 'Resume the execution' }).click()
    await request.untilHeld()
    await page.keyboard.press('Escape')
    expect(await resume.isDisabled()).toBe(true)
    await request.release()
    await page.getByText('Resumed.').waitFor()
    await waitForState(id, 'PAUSED')
  })

  test('an execution continues while its approvals are shown: they stay shown', async () => {
    const { id, page } = await openPaused('asks')
    const parts = page.getByRole('navigation', { name: 'Parts of the execution' })
    const current = parts.locator('[aria-current]')
    expect(await current.textContent()).toBe('Approvals')
    const resume = `POST /workflows/default/asks/resume/${id}/async`
    for (const state of ['PAUSED', 'COMPLETED']) {
      await fixture.auth.requestOk(resume, { body: null })
      await waitForState(id, state)
    }
    await page.locator('header').getByText('Completed').waitFor()
    expect(await current.textContent()).toBe('Approvals')
  })
})
