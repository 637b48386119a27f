import { describe, expect, test } from 'vitest'
import { isWhole } from './console-fixture.ts'
import { giveName, issuerFixture } from './issuer-fixture.ts'

const { fixture, issuerUrl, openForm } = issuerFixture()
const { obstacle } = fixture

const BACK = /\/console\/executions\?state=FAILED$/
const KEPT = 'document.cookie + JSON.stringify([localStorage, sessionStorage]) + location.href'

// `npm test` signs in once.
const whole = test.runIf(isWhole)

describe.skipIf(obstacle)(`sign-in at an issuer${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('a known person: back at the place that was asked for, with a session, until the sign-out', async () => {
    const one = await openForm('executions?state=FAILED')
    const { page, visit, findings } = one
    await giveName(page, 'ann')
    await page.waitForURL(BACK)
    await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor()
    const cookies = await page.context().cookies(fixture.url)
    expect(cookies).toMatchObject([
      {
        name: `windlass-${new URL(fixture.url).port}`,
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
      },
    ])
    expect(await page.evaluate(KEPT)).toBe(`[{},{}]${fixture.url}/console/executions?state=FAILED`)
    await visit('settings', 'Settings')
    await page.getByText('ann', { exact: true }).first().waitFor()
    expect(await page.getByText(issuerUrl()).count()).not.toBe(0)
    expect(await findings()).toEqual([])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in with Example' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Sign in with Example' }).waitFor()
  })

  whole('the page is loaded again in the same browser: the session is still there', async () => {
    const { page } = await openForm('executions?state=FAILED')
    await giveName(page, 'ann')
    await page.waitForURL(BACK)
    await page.reload()
    await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor()
    const other = await page.context().newPage()
    await other.goto(`${fixture.url}/console/settings`)
    await other.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  })

  whole.each([
    ['a person without an account', 'bob', /have no account here/],
    ['a person who refuses', undefined, /refused the sign-in/],
  ])('%s: no session, and the console says why', async (_, name, text) => {
    const { page, findings } = await openForm()
    if (name === undefined) await page.getByRole('button', { name: 'Refuse' }).click()
    else await giveName(page, name)
    await page.waitForURL(/\/console\/\?sign_in=\w+$/)
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(text)
    expect(await page.context().cookies(fixture.url)).toEqual([])
    expect(await findings()).toEqual([])
  })

  whole('the way back is opened in another browser: no session there', async () => {
    const { page } = await openForm()
    let back = ''
    page.on('request', (request) => {
      if (request.url().includes('/console/oidc/callback?')) back = request.url()
    })
    const { page: other } = await fixture.open()
    await giveName(page, 'ann')
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    expect(new URL(back).searchParams.get('code')).not.toBeNull()
    await other.goto(back)
    await other.getByRole('alert').waitFor()
    expect(await other.getByRole('alert').textContent()).toContain('begun in another browser')
    expect(await other.context().cookies(fixture.url)).toEqual([])
  })

  whole('the account is disabled while a page is open: the page asks to sign in', async () => {
    const { page } = await openForm('executions')
    await giveName(page, 'ann')
    await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor()
    const path = `/admin/principals/ann/disable?issuer=${encodeURIComponent(issuerUrl())}`
    await fixture.auth.requestOk(`POST ${path}`)
    await page.getByRole('link', { name: 'Sign in with Example' }).waitFor()
  })
})
