import { describe, expect, test } from 'vitest'
import { workflowSource } from '../security/auth-system.ts'
import { consoleFixture } from './console-fixture.ts'
import { FORBIDDEN } from './console-seed.ts'

const fixture = consoleFixture()
const { obstacle } = fixture
const open = (key = fixture.auth.admin) => fixture.open(key)

describe.skipIf(obstacle)(`administration in Chromium${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('a role: its change is made after its effect on each principal was shown', async () => {
    const permissions = ['workflow:team:*:read', 'workflow:team:*:run']
    await fixture.auth.requestOk('POST /admin/roles', { body: { name: 'drivers', permissions } })
    await fixture.auth.createAccount(['drivers'], 'night-job')
    const { page, visit } = await open()
    await visit('roles/drivers', 'drivers')
    await page.getByLabel('Permissions, one in each line').fill('workflow:team:*:read')
    await page.getByRole('button', { name: 'Show what changes' }).click()
    const row = page.getByRole('row', { name: /night-job/ })
    expect(await row.textContent()).toContain('workflow:team:*:run')
    const role = () => fixture.auth.requestOk('GET /admin/roles/drivers')
    expect((await role()).permissions).toEqual(permissions)
    await page.getByRole('button', { name: 'Make the change' }).click()
    await expect.poll(async () => (await role()).permissions).toEqual(['workflow:team:*:read'])
  })

  test('a service account: created with a key that is shown once, then disabled', async () => {
    const { page, visit } = await open()
    await visit('access', 'Access')
    await page.getByText('New principal').click()
    await page.getByLabel('Subject').fill('by-console')
    await page.getByLabel('Roles').selectOption('viewer')
    await page.getByRole('button', { name: 'Create the principal' }).click()
    await page.getByRole('heading', { level: 1, name: 'by-console' }).waitFor()
    await page.getByText('New key').click()
    await page.getByLabel('Name').fill('first')
    await page.getByRole('button', { name: 'Create the key' }).click()
    const shown = page.getByRole('status', { name: 'The new API key' }).locator('code')
    const key = (await shown.textContent()) ?? ''
    const me = async () => (await fixture.auth.request('GET /me', { token: key })).status
    expect(await me()).toBe(200)
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Disable the principal' }).click()
    await expect.poll(me).toBe(401)
  })

  test('a secret: created, shown exactly, replaced, and its reading is in the audit log', async () => {
    const { page, visit } = await open()
    await visit('secrets', 'Secrets')
    await page.getByText('New secret').click()
    await page.getByLabel('Name').first().fill('pin')
    await page.getByLabel('The value is').selectOption('json')
    await page.getByRole('textbox', { name: 'Value' }).fill('{"n":9007199254740993,"n":1.10}')
    await page.getByRole('button', { name: 'Create the secret' }).click()
    await page.getByRole('heading', { level: 1, name: 'pin' }).waitFor()
    await page.getByRole('button', { name: 'Show the value' }).click()
    await page.getByRole('button', { name: 'As stored' }).click()
    expect(await page.getByLabel('Value, text').textContent()).toBe(
      '{"n":9007199254740993,"n":1.10}',
    )
    await page.getByText('Replace the value').first().click()
    await page.getByRole('textbox', { name: 'Value' }).fill('other')
    await page.getByRole('button', { name: 'Replace the value' }).click()
    const stored = async () => (await fixture.auth.requestOk('GET /admin/secrets/pin')).value
    await expect.poll(stored).toBe('other')
    await visit('secrets/pin', 'pin')
    expect(await page.getByRole('cell', { name: 'secret.read' }).count()).not.toBe(0)
  })

  test('the audit chain: verified in the browser, and a head that was noted otherwise is found', async () => {
    const { page, visit } = await open()
    await visit('audit', 'Audit')
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    await page.getByText('the chain is whole').waitFor()
    await page.getByLabel('Head that you noted').fill(`1:${'0'.repeat(64)}`)
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    await page.getByText('entry 1 is not the one that was remembered').waitFor()
  })

  test('sessions: two browsers are listed, and ending the other signs it out', async () => {
    const { key } = await fixture.auth.createAccount(['viewer'])
    const other = await open(key)
    const { page, visit } = await open(key)
    await visit('settings', 'Settings')
    const { sessions } = (await fixture.auth.requestOk('GET /console/sessions', {
      token: key,
    })) as never
    const [{ id }] = sessions as [{ id: string }]
    // The administrator has sessions too, but not this one.
    expect(
      (await fixture.auth.request(`DELETE /console/sessions/${id}`, { token: fixture.auth.admin }))
        .status,
    ).toBe(404)
    const ends = page.getByRole('button', { name: /^End the session of/ })
    await expect.poll(() => ends.count()).toBe(2)
    await page.getByRole('row').filter({ hasNotText: 'this browser' }).locator(ends).click()
    await page.getByRole('button', { name: 'End the session', exact: true }).click()
    await expect.poll(() => ends.count()).toBe(1)
    await other.goto('settings')
    await other.page.getByLabel('API key').waitFor()
  })

  test('no worker yet: the command that starts one, with a token that is shown once', async () => {
    const { page, visit, findings } = await open()
    await visit('workers', 'Workers')
    await page.getByRole('button', { name: 'Create a token' }).click()
    const command = page.getByRole('status', { name: 'The command' }).locator('code')
    expect(await command.textContent()).toMatch(/^printf %s \S+ > \S+ && windlass worker start /)
    expect(await findings()).toEqual([])
    expect(JSON.stringify(await fixture.auth.requestOk('GET /admin/worker-tokens'))).toContain(
      'console-',
    )
  })

  test('all executions of a filter: cancelled after it was shown which', async () => {
    await fixture.auth.upload(workflowSource('default', 'waits'))
    const run = 'POST /workflows/default/waits/run/async'
    const more = await fixture.auth.requestOk(run, { body: null })
    await fixture.auth.requestOk(run, { body: null })
    const one = await open()
    await one.visit('executions?workflow_name=waits', 'Executions')
    await one.page.getByText('Act on all that match').click()
    await one.page.getByRole('button', { name: 'Show what it would change' }).click()
    await one.page.getByRole('link', { name: more.execution_id }).waitFor()
    expect(await one.findings()).toEqual([])
    await one.page.getByRole('button', { name: 'Cancel 2 executions' }).click()
    await one.page.getByText('2 of 2 done, 0 refused').waitFor()
    const state = async () =>
      (await fixture.auth.requestOk(`GET /executions/${more.execution_id}`)).state
    await expect.poll(state).toBe('CANCELLED')
  })

  test('a schedule: created by its form, changed, in the forecast, then paused', async () => {
    await fixture.auth.upload(workflowSource('default', 'report'))
    const { page, visit, findings } = await open()
    await visit('schedules', 'Schedules')
    await page.getByText('New schedule').click()
    await page.getByLabel('Name', { exact: true }).fill('hourly')
    await page.getByLabel('Cron expression').fill('0 * * * *')
    await page.getByLabel('Time zone').fill('UTC')
    await page.getByLabel('Input (JSON)').fill('{"n":9007199254740993}')
    await page.getByRole('button', { name: 'Create the schedule' }).click()
    await page.getByRole('heading', { level: 1, name: 'hourly' }).waitFor()
    await page.locator('summary', { hasText: 'Change the schedule' }).click()
    await page.getByLabel('Cron expression').fill('30 * * * *')
    await page.getByRole('button', { name: 'Change the schedule' }).click()
    await page.getByText('30 * * * * UTC').waitFor()
    await page.getByRole('button', { name: 'As stored' }).click()
    expect(await page.getByLabel('Input, text').textContent()).toBe('{"n":9007199254740993}')
    await visit('schedules?tab=forecast', 'Schedules')
    await page.getByRole('region', { name: 'Calendar of runs' }).waitFor()
    expect(await findings()).toEqual([])
    await visit('schedules', 'Schedules')
    await page.getByRole('button', { name: 'Pause hourly' }).click()
    await page.getByRole('button', { name: 'Resume hourly' }).waitFor()
  })

  test('a caller without rights: each screen names the missing permission', async () => {
    const one = await open((await fixture.auth.createAccount([])).key)
    for (const [path, permission] of FORBIDDEN) {
      await one.goto(path)
      const alert = one.page.getByRole('alert')
      await alert.waitFor()
      expect(await alert.textContent(), path).toContain(permission)
      expect(await one.findings(), path).toEqual([])
    }
  })

  test('keys alone: the palette finds a screen, g and a letter opens one, ? lists the keys', async () => {
    const { page, findings } = await open()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Screen, workflow, execution or action').waitFor()
    await page.keyboard.type('secr')
    expect(await findings()).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Secrets' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('e')
    await page.getByRole('heading', { level: 1, name: 'Executions' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' })
    await page.locator('#main input[type="search"]').first().waitFor()
    await page.keyboard.press('/')
    expect(await page.evaluate('document.activeElement.type')).toBe('search')
  })
})

describe.skipIf(obstacle)('sizes', () => {
  const url = () => `${fixture.auth.system.gateways[0]}/console/`

  /** Bytes of a script as it is sent with gzip, and the scripts that it names. */
  async function scriptAt(path: string) {
    const headers = { 'accept-encoding': 'gzip' }
    const response = await fetch(url() + path, { headers })
    const text = await response.text()
    const named = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name)
    return {
      bytes: Number(response.headers.get('content-length')),
      // Imports of a script name files of its folder; a dynamic import is a call.
      imports: named(/(?:from|import)"\.\/([\w-]+\.js)"/g),
      all: named(/"(?:\.\/|assets\/)([\w-]+\.js)"/g),
    }
  }

  test('scripts with gzip: at most 60 kB for the first page, 400 kB for all', async () => {
    const [, first = ''] = /src="[^"]*\/([\w-]+\.js)"/.exec(await (await fetch(url())).text()) ?? []
    const sizes = new Map<string, number>()
    const atOnce = new Set<string>()
    const visit = async (name: string, isAtOnce: boolean) => {
      if (isAtOnce) atOnce.add(name)
      if (sizes.has(name)) return
      sizes.set(name, 0)
      const script = await scriptAt(`assets/${name}`)
      sizes.set(name, script.bytes)
      for (const one of script.imports) await visit(one, isAtOnce)
      for (const one of script.all) await visit(one, false)
    }
    await visit(first, true)
    const sum = (names: Iterable<string>) =>
      [...names].reduce((bytes, name) => bytes + (sizes.get(name) ?? Number.NaN), 0)
    expect(sum(atOnce)).toBeGreaterThan(5_000)
    expect(sum(atOnce)).toBeLessThanOrEqual(60_000)
    expect(sizes.size).toBeGreaterThan(10)
    expect(sum(sizes.keys())).toBeLessThanOrEqual(400_000)
  })
})
