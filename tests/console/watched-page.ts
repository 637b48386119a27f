import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { openAddress } from '../security/chromium.ts'

/** Limit for one act on a page, as for a condition that is polled: 30 s, the default, were too few at a load of 13. */
const HANG_MS = 60_000
/** Limit for reading what a page shows instead, so that the error comes before that of the test. */
const READ_MS = 5_000

interface AxeResult {
  violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
}

/** Refusals that are kept for the message of a test that failed. */
const MAX_REFUSALS = 20

/**
 * Collects errors, rejections that nothing handles, reports of the policy, and requests to other hosts, which are problems,
 * and answers from 400 on, which may be part of a test.
 */
function watch(
  page: Page,
  { problems, refusals }: { problems: string[]; refusals: string[] },
  origins: ReadonlySet<string>,
): void {
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // Chromium reports each answer that is no success as an error; tests check those themselves.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isAnswer) problems.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!origins.has(new URL(url).origin)) problems.push(`request to another host: ${url}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) {
      refusals.push(`${new Date().toISOString()} ${response.status()} ${response.url()}`)
      if (refusals.length > MAX_REFUSALS) refusals.shift()
    }
    // 503 is what a busy machine answers; the console tries again.
    if (response.status() === 500) problems.push(`${response.status()} ${response.url()}`)
  })
}

/** A page whose faults are collected: `problems` has to be empty at the end of a test. */
export class WatchedPage {
  readonly page: Page
  readonly problems: string[]
  readonly #refusals: string[]
  readonly #origins: Set<string>

  private constructor(
    page: Page,
    { problems, refusals }: { problems: string[]; refusals: string[] },
    origins: Set<string>,
  ) {
    this.page = page
    this.problems = problems
    this.#refusals = refusals
    this.#origins = origins
  }

  /** Opens a page in a context of its own, which has no cookies of others. */
  static async open(
    browser: Browser,
    baseURL: string,
    options: BrowserContextOptions = {},
  ): Promise<WatchedPage> {
    const context = await browser.newContext({ baseURL, ...options })
    context.setDefaultTimeout(HANG_MS)
    const seen = { problems: [], refusals: [] }
    const origins = new Set([new URL(options.baseURL ?? baseURL).origin])
    // Further tabs of the context are watched too.
    context.on('page', (page) => watch(page, seen, origins))
    return new WatchedPage(await context.newPage(), seen, origins)
  }

  /** Allows requests to another server, such as an issuer. */
  allow(address: string): void {
    this.#origins.add(new URL(address).origin)
  }

  /** Signs in with an API key, as a person does. */
  async signIn(key: string): Promise<void> {
    await this.goto('')
    await this.page.getByLabel('API key').fill(key)
    await this.page.getByRole('button', { name: 'Sign in' }).click()
    await this.#waitFor(this.page.getByRole('heading', { name: 'Home' }))
  }

  /** Opens an address of the console and waits until nothing of it is being read any more. */
  visit = async (path: string, heading: string | RegExp): Promise<void> => {
    await this.goto(path)
    await this.#waitFor(this.page.getByRole('heading', { level: 1, name: heading }))
    await expect.poll(() => this.page.getByLabel('Loading').count()).toBe(0)
  }

  /** Waits until an element is shown; the error says what the page shows instead. */
  async #waitFor(element: Locator): Promise<void> {
    await element.waitFor().catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await this.shown()}`)
    })
  }

  /** Address and text of the page, and the last refusals, for the message of a test that failed. */
  async shown(): Promise<string> {
    const body = this.page.locator('body')
    const text = await body.textContent({ timeout: READ_MS }).catch((error: Error) => error.message)
    const refusals = this.#refusals.map((line) => `\n${line}`).join('')
    return `${new Date().toISOString()} ${this.page.url()} shows:\n${text}${refusals}`
  }

  /** Opens an address of the console. */
  goto = (path: string) => openAddress(this.page, `/console/${path}`)

  /** Findings of axe in the page as it is, in one line each. */
  findings = async (): Promise<string[]> => {
    await this.page.evaluate(axe.source)
    const { violations } = await this.page.evaluate<AxeResult>(
      // Only the size of targets is no default: it was added by WCAG 2.2.
      'axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } })',
    )
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    )
  }

  /** Pixels that the content needs; more than the window has if something is cut off. */
  contentWidth = (): Promise<number> =>
    this.page.evaluate<number>(
      'Math.max(document.documentElement.scrollWidth, document.getElementById("main").scrollWidth)',
    )

  close = (): Promise<void> => this.page.context().close()
}
