import { existsSync } from 'node:fs'
import { type Browser, firefox } from 'playwright-core'

const PATH = process.env.TEST_FIREFOX ?? '/usr/bin/firefox-esr'

/** Why the tests with Firefox cannot run here, or undefined. */
export const whyNoFirefox = (): string | undefined =>
  existsSync(PATH)
    ? undefined
    : 'needs Firefox: sudo apt-get install firefox-esr, or name the program in TEST_FIREFOX'

interface Session {
  send(method: string, ...rest: unknown[]): Promise<unknown>
}

/** Parts of the library that its types leave out. */
interface Internals {
  _connection: { toImpl(browser: Browser): { _browserSession: Session } }
}

/** Sets media features, which Firefox 153 does not know: the library would open no page. */
const UNKNOWN = 'emulation.setMediaFeaturesOverride'

/** Launches the installed Firefox without a window; the library drives it with WebDriver BiDi. */
export async function launchFirefox(): Promise<Browser> {
  const browser = await firefox.launch({ channel: 'moz-firefox', executablePath: PATH })
  const { _browserSession } = (browser as unknown as Internals)._connection.toImpl(browser)
  const sessions = Object.getPrototypeOf(_browserSession) as Session
  const { send } = sessions
  sessions.send = function (this: Session, method, ...rest) {
    return method === UNKNOWN ? Promise.resolve({}) : send.call(this, method, ...rest)
  }
  return browser
}
