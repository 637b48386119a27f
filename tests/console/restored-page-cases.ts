import { expect, test } from 'vitest'
import { launch } from '../security/chromium.ts'
import type { ConsoleFixture } from './console-fixture.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { WatchedPage } from './watched-page.ts'

/** Keeps what a restored page shows before any of its scripts can change it again. */
const RECORD = `addEventListener('pageshow', ({ persisted }) => {
  if (persisted) sessionStorage.setItem('restored', document.getElementById('app').textContent)
}, true)`

/** Tests of a page that the browser keeps as it is and restores by the back button (bfcache). */
export function restoredPageCases(fixture: ConsoleFixture): void {
  test.each([
    ['as the server sends it', undefined],
    ['without Cache-Control, so that it is kept', 'storable'],
  ] as const)(
    'sign-out, then the back button, a page %s: shows nothing private',
    async (_, fault) => {
      const browser = await launch('unused.example', { keepsPages: true })
      fixture.defer(() => browser.close())
      const proxy = await startFaultProxy(fixture.url, fixture.defer)
      proxy.fault = () => fault
      const one = await WatchedPage.open(browser, proxy.url)
      const { page } = one
      one.allow(fixture.url)
      await one.signIn(fixture.auth.admin)
      await one.visit('secrets', 'Secrets')
      expect(await page.locator('#app').textContent()).toContain('token <b>')
      await page.evaluate(RECORD)
      await page.goto(`${fixture.url}/docs`)

      const other = await page.context().newPage()
      await other.goto(`${proxy.url}/console/`)
      await other.getByRole('button', { name: 'Sign out' }).click()
      await other.getByLabel('API key').waitFor()
      await page.goBack({ waitUntil: 'commit' })
      await page.getByLabel('API key').waitFor()
      expect(await page.locator('#app').textContent()).not.toContain('token <b>')
      const restored = await page.evaluate<string | null>(`sessionStorage.getItem('restored')`)
      expect(restored).toBe(fault === 'storable' ? '' : null)
      expect(one.problems).toEqual([])
    },
  )
}
