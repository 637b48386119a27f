import type { Defer } from '@windlass/testkit/defer'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type AuthSystem, startAuthSystem } from '../security/auth-system.ts'
import { launch, whyNoBrowser } from '../security/chromium.ts'
import { WatchedPage } from './watched-page.ts'

/** True in `npm run test:console`; `npm test` runs a short part. */
export const isWhole = process.env.TEST_CONSOLE === 'all'
/** Limit of a test that hangs; some visit all screens. */
export const LIMIT_MS = 600_000

/** A browser that may be missing. */
interface InstalledBrowser {
  /** Why it cannot be used here, or undefined. */
  whyNot(): string | undefined
  launch(): Promise<Browser>
}

const CHROMIUM: InstalledBrowser = { whyNot: whyNoBrowser, launch: () => launch('unused.example') }

interface Options {
  workers?: number
  /** Settings, or what makes them before the system starts. */
  env?: Record<string, string> | ((defer: Defer) => Promise<Record<string, string>>)
  /** False: the file has long tests only, which run with TEST_CONSOLE=all. */
  isWanted?: boolean
  /** Command that runs a file which is not wanted. */
  otherwise?: string
  browser?: InstalledBrowser
  /** Runs once after the system has started. */
  prepare?: (auth: AuthSystem) => Promise<unknown>
}

export interface ConsoleFixture {
  /** Why the tests cannot run here, or undefined. */
  readonly obstacle: string | undefined
  readonly auth: AuthSystem
  /** Address of the gateway. */
  readonly url: string
  readonly browser: Browser
  /** Runs at the end of the file, before the system stops. */
  defer(undo: () => unknown): void
  /** Opens a page whose problems fail the test; signs in with the key, if one is given. */
  open(
    key?: string,
    options?: BrowserContextOptions,
    init?: (page: WatchedPage) => Promise<unknown>,
  ): Promise<WatchedPage>
}

/** A system with Chromium for the tests of one file. */
export function consoleFixture(options: Options = {}): ConsoleFixture {
  const { workers = 0, env = {}, isWanted = true, prepare, browser: program = CHROMIUM } = options
  const { otherwise = 'npm run test:console runs it' } = options
  const obstacle = isWanted ? program.whyNot() : otherwise
  const undo: (() => unknown)[] = []
  const defer = (one: () => unknown) => void undo.push(one)
  let started: { auth: AuthSystem; browser: Browser } | undefined
  let opened: WatchedPage[] = []
  beforeAll(async () => {
    if (obstacle) return
    const settings = typeof env === 'function' ? await env(defer) : env
    const auth = await startAuthSystem(defer, { workers, singleProcess: false, env: settings })
    await prepare?.(auth)
    const browser = await program.launch()
    defer(() => browser.close())
    started = { auth, browser }
  })
  afterAll(async () => {
    for (const one of undo.reverse()) await one()
  })
  afterEach(async ({ task }) => {
    const all = opened
    opened = []
    if (task.result?.state === 'fail')
      for (const one of all) console.error(`${task.name}: ${await one.shown()}`)
    for (const one of all) await one.close()
    expect(all.flatMap(({ problems }) => problems)).toEqual([])
  })
  const running = () => {
    if (!started) throw new Error('The system has not started.')
    return started
  }
  const urlOf = () => running().auth.system.gateways[0] ?? ''
  return {
    obstacle,
    defer,
    get auth() {
      return running().auth
    },
    get url() {
      return urlOf()
    },
    get browser() {
      return running().browser
    },
    async open(key, contextOptions = {}, init) {
      const one = await WatchedPage.open(running().browser, urlOf(), contextOptions)
      opened.push(one)
      await init?.(one)
      if (key !== undefined) await one.signIn(key)
      return one
    },
  }
}
