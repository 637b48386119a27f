import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page, type Request, type Response } from 'playwright-core'

const PATH = process.env.TEST_CHROMIUM ?? '/usr/bin/chromium'
const INSTALL = 'sudo apt-get install chromium, or name the program in TEST_CHROMIUM'

/** Why the tests with a browser cannot run here, or undefined. Missing in CI, it is an error. */
export function whyNoBrowser(): string | undefined {
  if (existsSync(PATH)) return undefined
  if (process.env.CI === 'true') throw new Error(`Chromium is missing: ${INSTALL}`)
  return `needs Chromium: ${INSTALL}`
}

/** Replaces the list of the library: of two such options Chromium reads the last. */
const DISABLED_FEATURES = [
  // Keep `http:` URLs of names as they are.
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  // Other browsers, and this one before 2025, let public pages reach loopback without a question.
  'LocalNetworkAccessChecks',
  'PrivateNetworkAccessSendPreflights',
]

/**
 * Launches a headless Chromium for which the name resolves to this machine, as after DNS rebinding.
 * `keepsPages`: like that of a user, it keeps pages as they are for the back button (bfcache).
 */
export const launch = (reboundName: string, { keepsPages = false } = {}): Promise<Browser> =>
  chromium.launch({
    ignoreDefaultArgs: keepsPages ? ['--disable-back-forward-cache'] : [],
    executablePath: PATH,
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      `--host-resolver-rules=MAP ${reboundName} 127.0.0.1`,
      `--disable-features=${DISABLED_FEATURES.join(',')}`,
      '--disable-background-networking',
    ],
  })

const MAX_NAVIGATIONS = 20
/** Errors of a navigation that Chromium ended because an interface of the machine appeared or went, as those of containers do, and of its own next attempt at the same address. */
const NETWORK_CHANGED =
  /ERR_NETWORK_CHANGED|interrupted by another navigation to "chrome-error:|"([^"]+)" is interrupted by another navigation to "\1"/

/**
 * Opens an address. A navigation that a change of the machine's network ended is begun again, and so is one
 * that lost a script of the page by it, which would stay empty; its error page may end the next one too.
 */
export async function openAddress(page: Page, address: string): Promise<Response | null> {
  let isCut = false
  const onFailed = (request: Request) => {
    const error = request.failure()?.errorText ?? ''
    if (request.resourceType() === 'script' && NETWORK_CHANGED.test(error)) isCut = true
  }
  page.on('requestfailed', onFailed)
  try {
    for (let navigations = 1; ; navigations++) {
      isCut = false
      try {
        const response = await page.goto(address)
        if (!isCut || navigations === MAX_NAVIGATIONS) return response
      } catch (error) {
        if (!NETWORK_CHANGED.test(String(error)) || navigations === MAX_NAVIGATIONS) throw error
      }
    }
  } finally {
    page.off('requestfailed', onFailed)
  }
}
