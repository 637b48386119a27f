import type { ElementHandle, JSHandle } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { consoleFixture, isWhole, LIMIT_MS } from './console-fixture.ts'
import { screensOf, seed } from './console-seed.ts'
import type { WatchedPage } from './watched-page.ts'

let ids: Record<string, string> = {}
const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async (auth) => {
    ids = await seed(auth)
  },
})
const { obstacle } = fixture

/** One thing to click, and its kind and name without ids and numbers. */
interface Clickable {
  element: unknown
  name: string
}

/** Runs in the page: everything visible and enabled; of an open dialog only what closes it. */
const LIST = `(() => {
  const dialog = document.querySelector('dialog[open]')
  const clickable = 'main :is(a[href], button, summary, input[type="checkbox"], select)'
  return [...document.querySelectorAll(clickable)].flatMap((element) => {
    if (!element.checkVisibility() || element.disabled) return []
    if (dialog && !dialog.contains(element)) return []
    const text = element.getAttribute('aria-label') ?? element.innerText ?? ''
    const name = element.localName + ' ' + text.replace(/[0-9a-f]{6,}|\\d+/g, '#').slice(0, 60)
    return dialog && element.innerText !== 'No' ? [] : [{ element, name }]
  })
})()`

/** Texts of a page that is broken. */
const BROKEN = /There is no page|The answer cannot be shown/

async function open({ page, goto }: WatchedPage, path: string): Promise<void> {
  await goto(path)
  await settle(page)
}

async function settle(page: WatchedPage['page']): Promise<void> {
  await page.locator('h1').first().waitFor()
  await expect.poll(() => page.getByLabel('Loading').count()).toBe(0)
}

const ACT_MS = 10_000

/**
 * Clicks an element, or chooses the last option; one that was disabled meanwhile is left out. Returns false for an
 * element that was replaced meanwhile.
 */
async function act(element: ElementHandle): Promise<boolean> {
  try {
    const options = await element.$$('option')
    if (options.length === 0) await element.click({ timeout: ACT_MS })
    else await element.selectOption({ index: options.length - 1 }, { timeout: ACT_MS })
  } catch (error) {
    if (!(await element.isVisible())) return false
    if (await element.isEnabled()) throw error
  }
  return true
}

async function elementOf(listed: JSHandle<Clickable[]>, index: number) {
  const handle = await listed.evaluateHandle((all, at) => all[at]?.element, index)
  return handle.asElement() as ElementHandle
}

/** Clicks everything of a screen that has not been clicked on one of its kind; returns what was clicked. */
async function clickScreen(one: WatchedPage, path: string, done: Set<string>): Promise<string[]> {
  const { page } = one
  const kind = path.split(/[/?]/)[0]
  const clicked: string[] = []
  await open(one, path)
  const address = page.url()
  for (;;) {
    const listed = await page.evaluateHandle<Clickable[]>(LIST)
    const names = await listed.evaluate((all) => all.map(({ name }) => name))
    const next = names.findIndex((name) => name === 'button No' || !done.has(`${kind} ${name}`))
    const name = names[next]
    if (name === undefined) return clicked
    if (await act(await elementOf(listed, next))) {
      done.add(`${kind} ${name}`)
      clicked.push(`${path}: ${name}`)
    }
    await listed.dispose()
    await settle(page)
    if (BROKEN.test((await page.locator('main').textContent()) ?? ''))
      throw new Error(`${path}: ${name}`)
    if (page.url() !== address) await open(one, path)
  }
}

describe.skipIf(obstacle)(`every click${obstacle ? `: ${obstacle}` : ''}`, () => {
  test.each([
    ['viewer', ['viewer']],
    ['operator', ['operator']],
    ['a caller without rights', []],
    ['admin', ['admin']],
  ])(
    'as %s: no error, no report of the policy, no request to another host, no broken page',
    async (name, roles) => {
      const one = await fixture.open((await fixture.auth.createAccount(roles)).key)
      const done = new Set<string>()
      let clicks = 0
      for (const [path] of screensOf(ids)) clicks += (await clickScreen(one, path, done)).length
      process.stdout.write(`every click as ${name}: ${clicks}\n`)
      expect(clicks).toBeGreaterThan(screensOf(ids).length)
      expect(one.problems).toEqual([])
    },
    LIMIT_MS,
  )
})
