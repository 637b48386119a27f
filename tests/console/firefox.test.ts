import { describe, expect, test } from 'vitest'
import { launchFirefox, whyNoFirefox } from '../security/firefox.ts'
import { consoleFixture, isWhole, LIMIT_MS } from './console-fixture.ts'
import { screensOf, seed } from './console-seed.ts'
import { layoutFlaws } from './page-flaws.ts'
import type { WatchedPage } from './watched-page.ts'

let ids: Record<string, string> = {}
const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole || process.env.TEST_CONSOLE === 'firefox',
  otherwise: 'npm run test:firefox runs it',
  browser: { whyNot: whyNoFirefox, launch: launchFirefox },
  prepare: async (auth) => {
    ids = await seed(auth)
  },
})
const { obstacle } = fixture

/** Chromium prints reports of the policy; Firefox sends an event only. */
const reportPolicy = ({ page }: WatchedPage) =>
  page.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
    console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`)

const open = (key?: string) => fixture.open(key, {}, reportPolicy)
const start = async () =>
  (await fixture.auth.requestOk('POST /workflows/default/greet/run/async', { body: 'Eve' }))
    .execution_id ?? ''

describe.skipIf(obstacle)(`Firefox${obstacle ? `: ${obstacle}` : ''}`, () => {
  test(
    'each screen, wide and narrow: no error, no report of the policy, nothing lost',
    async () => {
      const one = await open(fixture.auth.admin)
      const found: Record<string, string[]> = {}
      for (const [path, heading] of screensOf(ids)) {
        await one.visit(path, heading)
        const flaws: string[] = []
        for (const width of [1_280, 320]) {
          await one.page.setViewportSize({ width, height: 800 })
          flaws.push(...(await layoutFlaws(one.page)).map((flaw) => `${width}: ${flaw}`))
        }
        if (flaws.length > 0) found[path] = flaws
      }
      expect(found).toEqual({})
    },
    LIMIT_MS,
  )

  test('sign-in and sign-out: the session begins and ends', async () => {
    const { page } = await open(fixture.auth.admin)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    await page.reload()
    await page.getByLabel('API key').waitFor()
  })

  test('an execution arrives and is cancelled: the list changes at once', async () => {
    const { page, visit } = await open(fixture.auth.admin)
    await visit('executions?workflow_name=greet', 'Executions')
    await page.getByText('live', { exact: true }).waitFor()
    const id = await start()
    await page.getByRole('button', { name: '1 new' }).click()
    const row = page.locator(`[data-row="${id}"]`)
    await row.getByText('Queued').waitFor()
    await fixture.auth.requestOk(`GET /workflows/default/greet/cancel/${id}`)
    await row.getByText('Cancelled').waitFor()
  })

  test('an execution is cancelled by keys: its screen says so', async () => {
    const id = await start()
    const { page, visit } = await open(fixture.auth.admin)
    await visit(`executions/${id}`, 'greet')
    await page.getByRole('button', { name: 'Cancel this execution' }).press('Enter')
    await page.getByRole('button', { name: 'Cancel the execution' }).press('Enter')
    await page.getByRole('main').getByText('Cancelled', { exact: true }).first().waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('queue')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
  })
})
