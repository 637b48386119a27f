import { describe, expect, test } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'

const fixture = consoleFixture({
  isWanted: isWhole,
  env: {
    SVC_CONSOLE__OIDC__ENABLED: 'true',
    SVC_CONSOLE__OIDC__ISSUER: 'https://id.example.org',
    SVC_CONSOLE__OIDC__NAME: 'Example <b>',
    SVC_CONSOLE__OIDC__CLIENT_ID: 'console',
    SVC_CONSOLE__OIDC__CLIENT_SECRET: 'of the tests alone',
  },
})
const { obstacle } = fixture

describe.skipIf(obstacle)(`views and sign-in${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('an issuer is configured: a button leads there and back, and a failed sign-in says why', async () => {
    const { page, goto, findings } = await fixture.open()
    await goto('executions?state=FAILED&sign_in=unknown_principal')
    const button = page.getByRole('link', { name: 'Sign in with Example <b>' })
    const { pathname, searchParams } = new URL(
      (await button.getAttribute('href')) ?? '',
      fixture.url,
    )
    expect([pathname, searchParams.get('return_to')]).toEqual([
      '/console/oidc/start',
      'executions?state=FAILED',
    ])
    expect(await page.getByRole('alert').textContent()).toContain('have no account here')
    expect(await findings()).toEqual([])
  })

  test('a filter that is saved: a link in every browser of the caller, and gone when it is deleted', async () => {
    const { page, visit, findings } = await fixture.open(fixture.auth.admin)
    await visit('executions?state=FAILED&workflow_name=nightly', 'Executions')
    await page.getByRole('button', { name: 'Save this view' }).click()
    await page.getByLabel('Name of the view').fill('Failed <i>')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const view = page.getByRole('link', { name: 'Failed <i>' })
    await view.waitFor()
    expect(await view.getAttribute('aria-current')).toBe('true')
    expect(await findings()).toEqual([])
    const other = await fixture.open(fixture.auth.admin)
    await other.visit('executions', 'Executions')
    await other.page.getByRole('link', { name: 'Failed <i>' }).click()
    await other.page.waitForURL(/\?state=FAILED&workflow_name=nightly$/)
    await other.page.getByRole('button', { name: 'Delete the view' }).click()
    await other.page.getByRole('button', { name: 'Save this view' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Save this view' }).waitFor()
    expect(await view.count()).toBe(0)
  })
  test('the form of a view: opened, its field has the focus; Escape closes it, and its button has it again', async () => {
    const { page, visit } = await fixture.open(fixture.auth.admin)
    await visit('executions?state=FAILED', 'Executions')
    const opener = page.getByRole('button', { name: 'Save this view' })
    await opener.focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('name')
    await page.keyboard.press('Escape')
    await opener.waitFor()
    await expect
      .poll(() => page.evaluate('document.activeElement.textContent'))
      .toContain('Save this view')
  })

  test('a view is saved under a name that another one has: it is replaced only after a question', async () => {
    const saved = { screen: 'executions', query: 'state=COMPLETED' }
    const { page, visit } = await fixture.open(fixture.auth.admin)
    await visit('executions?state=FAILED', 'Executions')
    await page.getByRole('button', { name: 'Save this view' }).click()
    // Saved elsewhere after this page has read the names.
    await fixture.auth.requestOk('PUT /me/views/mine', { body: saved })
    const query = async () => {
      const { views } = (await fixture.auth.requestOk('GET /me/views')) as never
      return (views as { name: string; query: string }[]).find(({ name }) => name === 'mine')?.query
    }
    await page.getByLabel('Name of the view').fill('mine')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('You have a view with this name').waitFor()
    expect(await query()).toBe(saved.query)
    await page.getByLabel('Name of the view').fill('others')
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor()
    await page.getByLabel('Name of the view').fill('mine')
    await page.getByRole('button', { name: 'Replace', exact: true }).click()
    await page.getByRole('link', { name: 'mine' }).waitFor()
    expect(await query()).toBe('state=FAILED')
  })

  test('a view is changed in another tab after the question: asked again, and the other one can be loaded', async () => {
    const { page, visit, findings } = await fixture.open(fixture.auth.admin)
    const other = (query: string) =>
      fixture.auth.requestOk('PUT /me/views/shared', { body: { screen: 'executions', query } })
    await other('state=COMPLETED')
    await visit('executions?state=PAUSED', 'Executions')
    await page.getByRole('button', { name: 'Save this view' }).click()
    await page.getByLabel('Name of the view').fill('shared')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('You have a view with this name').waitFor()
    await other('state=RUNNING')
    await page.getByRole('button', { name: 'Replace', exact: true }).click()
    await page.getByText('was changed elsewhere meanwhile').waitFor()
    const { views } = (await fixture.auth.requestOk('GET /me/views')) as never
    expect(views).toContainEqual(
      expect.objectContaining({ name: 'shared', query: 'state=RUNNING' }),
    )
    expect(await findings()).toEqual([])
    await page.getByRole('link', { name: 'Load it' }).click()
    await page.waitForURL(/executions\?state=RUNNING$/)
    await visit('executions?state=PAUSED', 'Executions')
    await page.getByRole('button', { name: 'Save this view' }).click()
    await page.getByLabel('Name of the view').fill('shared')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('You have a view with this name').waitFor()
    await page.getByRole('button', { name: 'Replace', exact: true }).click()
    const view = page.getByRole('link', { name: 'shared' })
    await expect.poll(() => view.getAttribute('aria-current')).toBe('true')
  })
})
