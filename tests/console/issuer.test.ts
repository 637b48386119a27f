import type { IncomingMessage } from 'node:http'
import {
  CLIENT,
  type LateServer,
  lateServer,
  type SignInPage,
  serveProvider,
} from '@windlass/testkit/oidc-provider'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'
import type { WatchedPage } from './watched-page.ts'

let issuer: LateServer
const fixture = consoleFixture({
  env: async (defer) => {
    // Another name than that of the gateway: the way back is a navigation from another site.
    issuer = await lateServer(defer, 'localhost')
    return {
      SVC_CONSOLE__OIDC__ENABLED: 'true',
      SVC_CONSOLE__OIDC__ISSUER: issuer.url,
      SVC_CONSOLE__OIDC__NAME: 'Example',
      SVC_CONSOLE__OIDC__CLIENT_ID: CLIENT.client_id,
      SVC_CONSOLE__OIDC__CLIENT_SECRET: CLIENT.client_secret,
    }
  },
})
const { obstacle } = fixture

const FORM = `<!doctype html><html lang="en"><title>Example</title><form method="post">
  <label>Name <input name="name" /></label><button>Continue</button><button name="no" value="1">Refuse</button>
</form></html>`

/** A page at which a person gives a name, or refuses. */
const askForName: SignInPage = async (req, res, finish) => {
  if (req.method === 'GET') return res.setHeader('content-type', 'text/html').end(FORM)
  const form = new URLSearchParams(await bodyOf(req))
  const accountId = form.get('name') ?? ''
  await finish(form.has('no') ? { error: 'access_denied' } : { login: { accountId } })
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of req) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

beforeAll(async () => {
  if (obstacle) return
  serveProvider(issuer, `${fixture.url}/console/oidc/callback`, askForName)
  const body = { type: 'user', subject: 'ann', external_issuer: issuer.url, roles: ['viewer'] }
  await fixture.auth.requestOk('POST /admin/principals', { body })
})

/** A page of a browser that has no session anywhere, at the form of the issuer. */
async function openForm(path = ''): Promise<WatchedPage> {
  const one = await fixture.open()
  one.allow(issuer.url)
  await one.goto(path)
  await one.page.getByRole('link', { name: 'Sign in with Example' }).click()
  await one.page.getByLabel('Name').waitFor()
  expect(new URL(one.page.url()).origin).toBe(issuer.url)
  return one
}

async function signIn(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Continue' }).click()
}

const BACK = /\/console\/executions\?state=FAILED$/
const KEPT = 'document.cookie + JSON.stringify([localStorage, sessionStorage]) + location.href'

// `npm test` signs in once.
const whole = test.runIf(isWhole)

describe.skipIf(obstacle)(`sign-in at an issuer${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('a known person: back at the place that was asked for, with a session, until the sign-out', async () => {
    const one = await openForm('executions?state=FAILED')
    const { page, visit, findings } = one
    await signIn(page, 'ann')
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
    expect(await page.getByText(issuer.url).count()).not.toBe(0)
    expect(await findings()).toEqual([])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in with Example' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Sign in with Example' }).waitFor()
  })

  whole('the page is loaded again in the same browser: the session is still there', async () => {
    const { page } = await openForm('executions?state=FAILED')
    await signIn(page, 'ann')
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
    else await signIn(page, name)
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
    await signIn(page, 'ann')
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    expect(new URL(back).searchParams.get('code')).not.toBeNull()
    await other.goto(back)
    await other.getByRole('alert').waitFor()
    expect(await other.getByRole('alert').textContent()).toContain('begun in another browser')
    expect(await other.context().cookies(fixture.url)).toEqual([])
  })

  whole('the account is disabled while a page is open: the page asks to sign in', async () => {
    const { page } = await openForm('executions')
    await signIn(page, 'ann')
    await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor()
    const path = `/admin/principals/ann/disable?issuer=${encodeURIComponent(issuer.url)}`
    await fixture.auth.requestOk(`POST ${path}`)
    await page.getByRole('link', { name: 'Sign in with Example' }).waitFor()
  })
})
