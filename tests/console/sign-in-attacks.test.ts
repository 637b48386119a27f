import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { isWhole } from './console-fixture.ts'
import { HEADERS, statusOf } from './cookie-cases.ts'
import { giveName, issuerFixture } from './issuer-fixture.ts'

const { fixture, issuerUrl, openForm } = issuerFixture({ isWanted: isWhole })
const { obstacle } = fixture

const HOSTILE = '<img src=x onerror="document.title=1">'

const showsHome = (page: Page) => page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
const asksToSignIn = (page: Page) => page.getByLabel('API key').waitFor()

/** The cookie of the session of a browser, as a header. */
async function sessionOf(page: Page): Promise<string> {
  const cookies = await page.context().cookies(fixture.url)
  const session = cookies.find(({ sameSite }) => sameSite === 'Strict')
  return `${session?.name}=${session?.value}`
}

const statusWith = (cookie: string) => statusOf(fixture.url, '/me', { ...HEADERS, cookie })

/** Addresses that match, as a page requests them. */
function watch(page: Page, part: string): string[] {
  const found: string[] = []
  page.on('request', (request) => {
    if (request.url().includes(part)) found.push(request.url())
  })
  return found
}

describe.skipIf(obstacle)(`attacks on the sign-in${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('a sign-in at the issuer over a session (session fixation): the former one ends', async () => {
    const { key } = await fixture.auth.createAccount(['viewer'])
    const one = await fixture.open(key)
    one.allow(issuerUrl())
    const former = await sessionOf(one.page)
    expect(await statusWith(former)).toBe(200)
    await one.page.goto(`${fixture.url}/console/oidc/start`)
    await giveName(one.page, 'ann')
    await showsHome(one.page)
    expect(await statusWith(former)).toBe(401)
    expect(await statusWith(await sessionOf(one.page))).toBe(200)
  })

  test.each(['%252e%252e/docs', '..%2fdocs', '%2f%2fevil.example', 'https:%2f%2fevil.example'])(
    'a sign-in that should return to %s (open redirect): it ends in the console',
    async (place) => {
      const one = await fixture.open()
      one.allow(issuerUrl())
      await one.page.goto(`${fixture.url}/console/oidc/start?return_to=${place}`)
      await giveName(one.page, 'ann')
      await showsHome(one.page)
      expect(one.page.url()).toBe(`${fixture.url}/console/`)
    },
  )

  test('two tabs at the issuer: the last one signs in, the other one says that it is not the last', async () => {
    const { page } = await openForm()
    const second = await page.context().newPage()
    await second.goto(`${fixture.url}/console/oidc/start`)
    await second.getByLabel('Name').waitFor()
    await giveName(page, 'ann')
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('begun after it')
    await giveName(second, 'ann')
    await showsHome(second)
  })

  test('a page of another site that opens the callback and the start: ends no flow and begins none', async () => {
    const { page } = await openForm()
    const attacker = await page.context().newPage()
    const attack = async (path: string) => {
      await attacker.goto(`${issuerUrl()}/jwks`)
      await attacker.evaluate(`void (location.href = '${fixture.url}${path}')`)
      await attacker.waitForURL(`${fixture.url}/**`)
    }
    const state = 'x'.repeat(43)
    await attack(`/console/oidc/callback?code=c&state=${state}&iss=${issuerUrl()}`)
    await attack(`/console/oidc/callback?error=access_denied`)
    await attack('/console/oidc/start')
    expect(await attacker.textContent('body')).toContain('A sign-in begins in the console')
    await giveName(page, 'ann')
    await showsHome(page)
  })

  test('an error of the issuer with hostile text, and a hostile address: known words, no script', async () => {
    const one = await fixture.open()
    one.allow(issuerUrl())
    const begun = watch(one.page, '/auth?')
    await one.page.goto(`${fixture.url}/console/oidc/start`)
    await one.page.getByLabel('Name').waitFor()
    const state = new URL(begun[0] ?? '').searchParams.get('state') ?? ''
    const hostile = encodeURIComponent(HOSTILE)
    const query = `error=${hostile}&error_description=${hostile}&state=${state}`
    await one.page.goto(`${fixture.url}/console/oidc/callback?${query}`)
    for (const path of ['', `/console/?sign_in=${hostile}`]) {
      if (path !== '') await one.page.goto(fixture.url + path)
      await one.page.getByRole('alert').waitFor()
      expect(await one.page.getByRole('alert').textContent()).toContain('refused the sign-in')
      expect(await one.page.locator('img[src="x"]').count()).toBe(0)
      expect(await one.page.title()).not.toBe('1')
    }
  })

  test('the callback is opened again after the sign-in: no other session, and this one stays', async () => {
    const { page } = await openForm()
    const callbacks = watch(page, '/console/oidc/callback?')
    await giveName(page, 'ann')
    await showsHome(page)
    const session = await sessionOf(page)
    await page.goto(callbacks[0] ?? '')
    await showsHome(page)
    expect(await sessionOf(page)).toBe(session)
    expect(await statusWith(session)).toBe(200)
  })

  test('a second cookie of the name, for a longer path (cookie tossing): the page asks to sign in', async () => {
    const { subject, key } = await fixture.auth.createAccount(['admin'])
    const attacker = await sessionOf((await fixture.open(key)).page)
    const { page } = await openForm()
    await giveName(page, 'ann')
    await showsHome(page)
    const [name = '', value = ''] = attacker.split('=')
    const { hostname: domain } = new URL(fixture.url)
    await page.context().addCookies([{ name, value, domain, path: '/me' }])
    await page.reload()
    await asksToSignIn(page)
    expect(await page.textContent('body')).not.toContain(subject)
  })

  test('another person signs in, in another tab: the first tab is loaded again with the rights of that one', async () => {
    const [first, second] = [
      await fixture.auth.createAccount(['admin']),
      await fixture.auth.createAccount(['viewer']),
    ]
    const one = await fixture.open()
    await one.goto('')
    const other = await one.page.context().newPage()
    await other.goto(`${fixture.url}/console/`)
    await asksToSignIn(other)
    await one.signIn(first.key)
    await one.page.getByText(first.subject, { exact: true }).first().waitFor()
    await one.page.evaluate('window.before = true')
    await other.getByLabel('API key').fill(second.key)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await showsHome(other)
    await one.page.getByText(second.subject, { exact: true }).first().waitFor()
    expect(await one.page.evaluate('window.before')).toBeUndefined()
  })

  test('the back button after a sign-out: the page asks to sign in', async () => {
    const { page } = await openForm('executions')
    await giveName(page, 'ann')
    await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor()
    await page.goto(`${fixture.url}/docs`)
    const other = await page.context().newPage()
    await other.goto(`${fixture.url}/console/`)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await asksToSignIn(other)
    await page.goBack()
    await asksToSignIn(page)
    expect(await page.getByRole('heading', { name: 'Executions' }).count()).toBe(0)
  })
})
