import { readFileSync } from 'node:fs'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem } from '../security/auth-system.ts'
import { launch, whyNoBrowser } from '../security/chromium.ts'
import { INPUT, screensOf, seed } from './console-seed.ts'
import { WatchedPage } from './watched-page.ts'

/** Limit of a test that hangs; each visits all screens. */
const LIMIT_MS = 600_000
const obstacle = whyNoBrowser()
const isWhole = process.env.TEST_CONSOLE === 'all'
const undo: (() => unknown)[] = []
const defer = (one: () => unknown) => void undo.push(one)
let auth: AuthSystem
let browser: Browser
let url: string
let opened: WatchedPage[] = []
let ids: Record<string, string> = {}

beforeAll(async () => {
  if (obstacle) return
  auth = await startAuthSystem(defer, { workers: 1 })
  url = auth.system.gateways[0] ?? ''
  ids = await seed(auth)
  browser = await launch('unused.example')
  defer(() => browser.close())
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})
afterEach(async () => {
  const all = opened
  opened = []
  for (const one of all) await one.close()
  expect(all.flatMap(({ problems }) => problems)).toEqual([])
})

const stateOf = async (name: string) => (await auth.requestOk(`GET /executions/${ids[name]}`)).state

async function open(options: BrowserContextOptions = {}) {
  const one = await WatchedPage.open(browser, url, options)
  opened.push(one)
  return one
}

const HEADERS = { 'x-windlass-console': '1', 'sec-fetch-site': 'same-origin' }

/** Signs in without a browser; returns the cookie. */
async function cookieFor(key: string): Promise<string> {
  const response = await fetch(`${url}/console/session`, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: key }),
  })
  expect(response.status).toBe(200)
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}

const status = async (path: string, headers: Record<string, string>, method = 'GET') =>
  (await fetch(url + path, { method, headers })).status

describe.skipIf(obstacle)(`the console in Chromium${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('sign-in: a wrong key is refused, a right one leads Home, and no script can read either', async () => {
    const one = await open()
    await one.page.goto('/console/')
    await one.page.getByLabel('API key').fill('wk_0123456789abcdef.wrong')
    await one.page.getByRole('button', { name: 'Sign in' }).click()
    await one.page.getByRole('alert').waitFor()
    expect(await one.findings()).toEqual([])
    await one.signIn(auth.admin)
    const [cookie] = await one.page.context().cookies()
    expect(cookie).toMatchObject({
      name: 'windlass',
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
    })
    expect(
      await one.page.evaluate('document.cookie + JSON.stringify([localStorage, sessionStorage])'),
    ).toBe('[{},{}]')
    await one.page.getByRole('button', { name: 'Sign out' }).click()
    await one.page.getByLabel('API key').waitFor()
    expect(await status('/me', { ...HEADERS, cookie: `${cookie?.name}=${cookie?.value}` })).toBe(
      401,
    )
  })

  // The narrow window is the dark one, so that two passes cover themes and widths.
  test.each([
    ['light', 1_280],
    ['dark', 320],
  ] as const)(
    'screens, %s, %d pixels: no finding of axe, nothing wider than the window',
    async (colorScheme, width) => {
      const one = await open({ colorScheme, viewport: { width, height: 800 } })
      await one.signIn(auth.admin)
      const found: Record<string, string[]> = {}
      // Half of the screens in each pass; `npm run test:console` visits all in both.
      const isWide = width > 320
      const screens = screensOf(ids).filter((_, i) => isWhole || (i % 2 === 0) === isWide)
      for (const [path, heading] of screens) {
        await one.visit(path, heading)
        const findings = await one.findings()
        const excess = (await one.contentWidth()) - width
        if (excess > 0) findings.push(`${excess} pixels too wide`)
        if (findings.length > 0) found[path] = findings
      }
      expect(found).toEqual({})
    },
    LIMIT_MS,
  )

  test('an execution that failed: its cause as text, its input exactly as it was sent', async () => {
    const one = await open()
    await one.signIn(auth.admin)
    await one.visit(`executions/${ids.checkout}?tab=data`, 'checkout')
    await one.page.getByLabel('Error', { exact: true }).first().waitFor()
    expect(await one.page.getByText('card declined <script>alert(1)</script>').count()).not.toBe(0)
    await one.page.getByRole('button', { name: 'As stored' }).first().click()
    expect(await one.page.getByLabel('Input, text').textContent()).toBe(INPUT)
    await one.page.getByRole('link', { name: 'Run again' }).click()
    await one.page.getByRole('heading', { name: 'Run checkout' }).waitFor()
    expect(await one.page.getByLabel('Input (JSON)').inputValue()).toBe(INPUT)
    await one.page.getByRole('button', { name: 'Run', exact: true }).click()
    await one.page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
  })

  test('an execution: compared with its rerun, forked after an entry, written to a file', async () => {
    const one = await open()
    const { page, visit } = one
    await one.signIn(auth.admin)
    await visit(`compare/${ids.checkout}`, 'Compare')
    await page.getByRole('link', { name: ids.again }).click()
    await page.getByText('The inputs are the same.').waitFor()
    await visit(`executions/${ids.checkout}?tab=log`, 'checkout')
    await page
      .getByRole('link', { name: /^Fork after entry/ })
      .last()
      .click()
    await page.getByRole('button', { name: 'Start the fork' }).click()
    await page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
    expect(page.url()).not.toContain(ids.checkout)
    await visit('executions?workflow_name=greet', 'Executions')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^CSV/ }).click(),
    ])
    expect(readFileSync(await file.path(), 'utf8')).toContain(`"${ids.greet}","default","greet"`)
  })

  test('a queued execution: why it waits, and the change that would help', async () => {
    const one = await open()
    await one.signIn(auth.admin)
    await one.page.getByText(/no connected worker can run/).waitFor()
    await one.visit(`executions/${ids.greet}`, 'greet')
    await one.page.getByText('What would help').waitFor()
    expect(await one.page.getByText('label zone = nowhere').count()).toBe(1)
    await one.page.getByRole('button', { name: 'Cancel' }).click()
    await one.page.getByRole('button', { name: 'Cancel the execution' }).click()
    await expect.poll(() => stateOf('greet')).toBe('CANCELLED')
  })

  test('an approval in the inbox: approved, and the execution completes', async () => {
    const one = await open()
    await one.signIn(auth.admin)
    await one.visit('approvals', 'Approvals')
    await one.page.getByRole('button', { name: 'Approve' }).click()
    await one.page.getByText('Nothing waits for a decision').waitFor()
    await expect.poll(() => stateOf('give_back')).toBe('COMPLETED')
  })

  test('a viewer: actions are disabled and name the missing permission', async () => {
    const one = await open()
    await one.signIn((await auth.createAccount(['viewer'])).key)
    await one.visit('start/default/greet', 'Run greet')
    const button = one.page.getByRole('button', { name: 'Run', exact: true })
    expect(await button.isDisabled()).toBe(true)
    expect(await button.getAttribute('title')).toContain('workflow:default:greet:run')
  })

  test('the key is revoked while a page is open: the page asks for a key', async () => {
    const one = await open()
    const { subject, key } = await auth.createAccount(['admin'])
    await one.signIn(key)
    await auth.requestOk(`DELETE /admin/principals/${subject}/keys/k`)
    await one.page.getByLabel('API key').waitFor()
  })
})

describe.skipIf(obstacle)('the cookie of a session', () => {
  test('it counts for the console only, and not together with another credential', async () => {
    const cookie = await cookieFor(auth.admin)
    const origin = url
    const results = {
      'header and Sec-Fetch-Site': await status('/me', { ...HEADERS, cookie }),
      'header and Origin': await status('/me', { 'x-windlass-console': '1', origin, cookie }),
      'no header': await status('/me', { 'sec-fetch-site': 'same-origin', cookie }),
      'header alone': await status('/me', { 'x-windlass-console': '1', cookie }),
      'another site': await status('/me', { ...HEADERS, 'sec-fetch-site': 'cross-site', cookie }),
      'another origin': await status('/me', { ...HEADERS, origin: 'http://evil.example', cookie }),
      'the cookie twice': await status('/me', { ...HEADERS, cookie: `${cookie}; ${cookie}` }),
      'Authorization too': await status('/me', {
        ...HEADERS,
        cookie,
        authorization: `Bearer ${auth.admin}`,
      }),
      'a worker route': await status('/workers/w/connect', { ...HEADERS, cookie }),
      'another value': await status('/me', { ...HEADERS, cookie: `${cookie.slice(0, -2)}AA` }),
    }
    expect(results).toEqual({
      'header and Sec-Fetch-Site': 200,
      'header and Origin': 200,
      'no header': 401,
      'header alone': 401,
      'another site': 403,
      'another origin': 403,
      'the cookie twice': 401,
      'Authorization too': 400,
      'a worker route': 401,
      'another value': 401,
    })
  })

  test.each([
    ['no header of the console', { 'sec-fetch-site': 'same-origin' }],
    ['no mark of this origin', { 'x-windlass-console': '1' }],
  ])('sign-in with %s: 403', async (_, headers: Record<string, string>) => {
    const response = await fetch(`${url}/console/session`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: auth.admin }),
    })
    expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null])
  })

  test('a change by the cookie: recorded under the name of its principal', async () => {
    const { subject, key } = await auth.createAccount(['admin'])
    const cookie = await cookieFor(key)
    const response = await fetch(`${url}/admin/roles`, {
      method: 'POST',
      headers: { ...HEADERS, cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'by-cookie', permissions: ['workflow:*:*:read'] }),
    })
    expect(response.status).toBe(200)
    const { entries } = (await auth.requestOk('GET /admin/audit?object=role:by-cookie')) as never
    expect(JSON.stringify(entries)).toContain(subject)
  })
})
