import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { workflowSource } from '../security/auth-system.ts'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { type FaultProxy, provideFaultProxy } from './fault-proxy.ts'

const cron = (cron_expression: string) => ({ type: 'cron', cron_expression, timezone: 'UTC' })

let proxy: FaultProxy
const fixture = consoleFixture({
  isWanted: isWhole,
  prepare: async ({ upload, requestOk }) => {
    expect((await upload(workflowSource('default', 'report'))).status).toBe(200)
    await requestOk('POST /schedules', {
      body: {
        ...{ workflow_namespace: 'default', workflow_name: 'report', name: 'yearly' },
        ...{ schedule_config: cron('0 0 1 1 *'), input_data: {} },
      },
    })
    const permissions = ['workflow:team:*:read']
    await requestOk('POST /admin/roles', { body: { name: 'readers', permissions } })
    await requestOk('POST /admin/secrets', { body: { name: 'second', value: 'old' } })
  },
})
const { obstacle } = fixture

provideFaultProxy(fixture, (started) => {
  proxy = started
})

const open = () => fixture.open(fixture.auth.admin, { baseURL: proxy.url })

/** Pixels by which fonts of other machines may change the height of a part. */
const TOLERANCE_PX = 8
const topOf = async (target: Locator) => (await target.boundingBox())?.y

describe.skipIf(obstacle)(`forms${obstacle ? `: ${obstacle}` : ''}`, () => {
  const changeSchedule = (rule: string) =>
    fixture.auth.requestOk('PUT /schedules/yearly', { body: { schedule_config: cron(rule) } })
  const stored = async () => JSON.stringify(await fixture.auth.requestOk('GET /schedules/yearly'))

  test.each([1_280, 320])(
    'the next runs of a schedule are read late, in %d pixels: the form does not move',
    async (width) => {
      const { page, visit } = await open()
      await page.setViewportSize({ width, height: 800 })
      await visit('schedules', 'Schedules')
      let isHeld = true
      proxy.fault = ({ path }) => (isHeld && path.includes('/next') ? 'held' : undefined)
      await page.getByRole('link', { name: 'yearly' }).click()
      const form = page.locator('summary', { hasText: 'Change the schedule' })
      await form.waitFor()
      const before = await topOf(form)
      isHeld = false
      await page.reload()
      const ticks = page.getByRole('region', { name: 'Next runs' })
      await ticks.getByRole('listitem').nth(4).waitFor()
      expect(Math.abs(((await topOf(form)) ?? 0) - (before ?? 0))).toBeLessThan(TOLERANCE_PX)
    },
  )

  test('a schedule is changed while its form is open: what is typed stays until one of both is chosen', async () => {
    await changeSchedule('0 0 1 1 *')
    const { page, visit, findings } = await open()
    await visit('schedules/yearly', 'yearly')
    await page.locator('summary', { hasText: 'Change the schedule' }).click()
    const rule = page.getByLabel('Cron expression')
    const notice = page.getByText('Changed by someone else since you opened it')
    const save = page.getByRole('button', { name: 'Change the schedule' })
    await changeSchedule('0 0 2 1 *')
    await page.getByText('0 0 2 1 * UTC').waitFor()
    expect([await rule.inputValue(), await notice.count()]).toEqual(['0 0 2 1 *', 0])
    await rule.fill('0 0 3 1 *')
    await changeSchedule('0 0 4 1 *')
    await notice.waitFor()
    expect(await rule.inputValue()).toBe('0 0 3 1 *')
    expect(await findings()).toEqual([])
    await save.click()
    await page.getByText('Someone else has changed it').waitFor()
    expect(await stored()).toContain('0 0 4 1 *')
    await page.getByRole('button', { name: 'Load theirs' }).click()
    expect([await rule.inputValue(), await notice.count()]).toEqual(['0 0 4 1 *', 0])
    await rule.fill('0 0 5 1 *')
    await changeSchedule('0 0 6 1 *')
    await page.getByRole('button', { name: 'Keep mine' }).click()
    expect([await rule.inputValue(), await notice.count()]).toEqual(['0 0 5 1 *', 0])
    await save.click()
    await page.getByText('0 0 5 1 * UTC').waitFor()
    expect(await stored()).toContain('0 0 5 1 *')
  })

  test('two tabs change a schedule at once: the server refuses the second, which asks what to keep', async () => {
    await changeSchedule('0 0 1 1 *')
    const tabs = [await fixture.open(fixture.auth.admin), await open()] as const
    for (const { page, visit } of tabs) {
      await visit('schedules/yearly', 'yearly')
      await page.locator('summary', { hasText: 'Change the schedule' }).click()
    }
    const [first, second] = [tabs[0].page, tabs[1].page]
    const rule = (page: Page) => page.getByLabel('Cron expression')
    const save = (page: Page) => page.getByRole('button', { name: 'Change the schedule' }).click()
    await rule(first).fill('0 0 2 1 *')
    await rule(second).fill('0 0 3 1 *')
    // The second tab has found the schedule unchanged, and its request arrives after that of the first.
    let isBusy = true
    const answers: number[] = []
    proxy.fault = ({ method }) => (method === 'PUT' && isBusy ? 503 : undefined)
    second.on('response', (answer) => {
      if (answer.request().method() === 'PUT') answers.push(answer.status())
    })
    await save(second)
    await expect.poll(() => answers).toContain(503)
    await save(first)
    await first.getByText('0 0 2 1 * UTC').waitFor()
    isBusy = false
    await second.getByText('Someone else has changed it').waitFor()
    expect(answers.at(-1)).toBe(412)
    expect(await stored()).toContain('0 0 2 1 *')
    await second.getByText('Changed by someone else since you opened it').waitFor()
    expect(await rule(second).inputValue()).toBe('0 0 3 1 *')
    await second.getByRole('button', { name: 'Keep mine' }).click()
    await save(second)
    await second.getByText('0 0 3 1 * UTC').waitFor()
    expect(await stored()).toContain('0 0 3 1 *')
  })

  test('the answer to a change of a schedule is lost: sent again, and no one else is said to have changed it', async () => {
    await changeSchedule('0 0 1 1 *')
    const { page, visit } = await open()
    await visit('schedules/yearly', 'yearly')
    await page.locator('summary', { hasText: 'Change the schedule' }).click()
    await page.getByLabel('Cron expression').fill('0 0 7 1 *')
    let isFirst = true
    proxy.fault = ({ method }) => {
      if (method !== 'PUT' || !isFirst) return undefined
      isFirst = false
      return 'unanswered'
    }
    await page.getByRole('button', { name: 'Change the schedule' }).click()
    await page.getByText('0 0 7 1 * UTC').waitFor()
    expect(proxy.seen.filter((one) => one.startsWith('PUT ')).length).toBeGreaterThan(1)
    expect(await page.getByText('Someone else has changed it').count()).toBe(0)
    expect(await page.getByText('Changed by someone else').count()).toBe(0)
  })

  test('a role is changed while its text is edited: the change is not made before one of both is chosen', async () => {
    const { page, visit } = await open()
    await visit('roles/readers', 'readers')
    const text = page.getByLabel('Permissions, one in each line')
    const typed = 'workflow:team:*:read\nworkflow:team:*:run'
    await text.fill(typed)
    const role = () => fixture.auth.requestOk('GET /admin/roles/readers')
    const other = 'schedule:team:*:read'
    await fixture.auth.requestOk('PATCH /admin/roles/readers', {
      body: { add_permissions: [other] },
    })
    const show = page.getByRole('button', { name: 'Show what changes' })
    await show.click()
    await page.getByText('Changed by someone else since you opened it').waitFor()
    expect(await text.inputValue()).toBe(typed)
    await page.getByRole('button', { name: 'Keep mine' }).click()
    await show.click()
    await page.getByRole('button', { name: 'Make the change' }).click()
    await expect.poll(async () => (await role()).permissions).toEqual(typed.split('\n'))
  })

  test('a role is changed while a change of it is on its way: the server refuses that, which asks what to keep', async () => {
    const roles = '/admin/roles/readers'
    const { page, visit } = await fixture.open(fixture.auth.admin)
    await visit('roles/readers', 'readers')
    await page.getByLabel('Permissions, one in each line').fill('workflow:mine:*:read')
    await page.getByRole('button', { name: 'Show what changes' }).click()
    const theirs = 'workflow:theirs:*:read'
    await page.route(`**${roles}`, async (way) => {
      const body = { add_permissions: [theirs] }
      if (way.request().method() === 'PATCH')
        await fixture.auth.requestOk(`PATCH ${roles}`, { body })
      await way.continue()
    })
    await page.getByRole('button', { name: 'Make the change' }).click()
    await page.getByText('Changed by someone else since you opened it').waitFor()
    const { permissions } = await fixture.auth.requestOk(`GET ${roles}`)
    expect(permissions).toContain(theirs)
    expect(permissions).not.toContain('workflow:mine:*:read')
  })

  test('a new secret with the name of another one: refused, and that one keeps its value', async () => {
    await fixture.auth.requestOk('POST /admin/secrets', { body: { name: 'taken', value: 'old' } })
    const { page, visit } = await open()
    await visit('secrets', 'Secrets')
    await page.getByText('New secret').click()
    await page.getByLabel('Name').first().fill('taken')
    await page.getByRole('textbox', { name: 'Value' }).fill('new')
    await page.getByRole('button', { name: 'Create the secret' }).click()
    await page.getByText('There is a secret of this name already').waitFor()
    expect((await fixture.auth.requestOk('GET /admin/secrets/taken')).value).toBe('old')
  })

  test('a secret is replaced while its form is open: the value is not sent before one of both is chosen', async () => {
    const { page, visit } = await open()
    await visit('secrets/second', 'second')
    await page.getByText('Replace the value').first().click()
    const value = page.getByRole('textbox', { name: 'Value' })
    await value.fill('mine')
    const put = { name: 'second', value: 'theirs', namespaces: ['team'] }
    await fixture.auth.requestOk('POST /admin/secrets', { body: put })
    const stored = async () => (await fixture.auth.requestOk('GET /admin/secrets/second')).value
    const replace = page.getByRole('button', { name: 'Replace the value' })
    await replace.click()
    await page.getByText('Changed by someone else since you opened it').waitFor()
    expect([await value.inputValue(), await stored()]).toEqual(['mine', 'theirs'])
    await page.getByRole('button', { name: 'Keep mine' }).click()
    await replace.click()
    await expect.poll(stored).toBe('mine')
  })
})
