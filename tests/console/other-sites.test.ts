import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { ATTACKS } from '../security/attack-page.ts'
import { openAddress } from '../security/chromium.ts'
import { consoleFixture, isWhole } from './console-fixture.ts'

const CANARY = 'canary'
/** It has no worker, so that a cancel would be seen. */
const WORKFLOW = `from windlass import ExecutionContext, workflow

@workflow.with_options(name="hello", namespace="default")
async def hello(context: ExecutionContext):
    return context.input
`
const PAGE = '<!doctype html><title>page</title><body></body>'

let execution = ''
let port = 0
const fixture = consoleFixture({
  isWanted: isWhole,
  prepare: async ({ upload, requestOk }) => {
    expect((await upload(WORKFLOW)).status).toBe(200)
    await requestOk('POST /admin/secrets', { body: { name: 's', value: CANARY } })
    execution = (await requestOk('POST /workflows/default/hello/run/async')).execution_id ?? ''
  },
})
const { obstacle } = fixture

beforeAll(async () => {
  if (obstacle) return
  const server = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html').end(PAGE)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  fixture.defer(() => server.close())
  port = (server.address() as AddressInfo).port
})

const requestOk = (request: string) => fixture.auth.requestOk(request)

/** Everything that an attack could have changed. */
const state = async () =>
  JSON.stringify([
    await requestOk('GET /workflows'),
    await requestOk('GET /admin/secrets'),
    (await requestOk('GET /executions')).total,
    (await requestOk(`GET /executions/${execution}`)).state,
  ])

/** A tab with the cookie of an administrator, whose errors are no problems: those of an attacker. */
async function openWithCookie(): Promise<Page> {
  const one = await fixture.open(fixture.auth.admin)
  const context = await fixture.browser.newContext()
  fixture.defer(() => context.close())
  await context.addCookies(await one.page.context().cookies())
  return await context.newPage()
}

const SETTLE_MS = 1_000

describe.skipIf(obstacle)(`pages of other sites${obstacle ? `: ${obstacle}` : ''}`, () => {
  // Browsers send a cookie to every port of its host, so the first page has it.
  test.each(['127.0.0.1', 'localhost'])(
    'a page at another port of %s, in a browser that is signed in: nothing is read or changed',
    async (host) => {
      const page = await openWithCookie()
      const before = await state()
      const target = { url: fixture.url, execution }
      for (const { name, script } of ATTACKS) {
        await openAddress(page, `http://${host}:${port}/`)
        // A navigation ends the script before it can answer.
        const read = await page.evaluate(script(target)).catch(() => '')
        expect(String(read), name).not.toContain(CANARY)
      }
      await page.waitForTimeout(SETTLE_MS)
      expect(await state()).toBe(before)
      await openAddress(page, `${fixture.url}/console/`)
      await page.getByRole('heading', { name: 'Home' }).waitFor()
    },
  )

  test('a page that frames the console: the frame stays empty', async () => {
    const page = await openWithCookie()
    await openAddress(page, `http://127.0.0.1:${port}/`)
    await page.evaluate(`new Promise((resolve) => {
      const frame = document.createElement('iframe')
      frame.onload = resolve
      frame.src = ${JSON.stringify(`${fixture.url}/console/`)}
      document.body.append(frame)
    })`)
    const [, frame] = page.frames()
    expect(await frame?.locator('#app, form, main').count()).toBe(0)
  })

  test('a name that was rebound to the gateway: it has no session there', async () => {
    const page = await openWithCookie()
    await openAddress(page, `http://unused.example:${new URL(fixture.url).port}/console/`)
    const status = await page
      .evaluate<number>(
        `fetch('/me', { headers: { 'x-windlass-console': '1' } }).then(({ status }) => status)`,
      )
      .catch(() => 0)
    expect([0, 401, 403]).toContain(status)
  })
})
