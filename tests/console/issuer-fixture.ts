import type { IncomingMessage } from 'node:http'
import {
  CLIENT,
  type LateServer,
  lateServer,
  type SignInPage,
  serveProvider,
} from '@windlass/testkit/oidc-provider'
import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { consoleFixture } from './console-fixture.ts'
import type { WatchedPage } from './watched-page.ts'

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

/** Fills the form of the issuer. */
export async function giveName(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** A system with an issuer at which people sign in to the console; it knows a user `ann`. */
export function issuerFixture(options: { isWanted?: boolean } = {}) {
  let issuer: LateServer | undefined
  const fixture = consoleFixture({
    ...options,
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
  const urlOf = () => issuer?.url ?? ''
  beforeAll(async () => {
    if (fixture.obstacle || !issuer) return
    serveProvider(issuer, `${fixture.url}/console/oidc/callback`, askForName)
    const body = { type: 'user', subject: 'ann', external_issuer: issuer.url, roles: ['viewer'] }
    await fixture.auth.requestOk('POST /admin/principals', { body })
  })
  /** Goes to the form of the issuer, from an address of the console. */
  const goToForm = async (one: WatchedPage, path = ''): Promise<WatchedPage> => {
    one.allow(urlOf())
    await one.goto(path)
    await one.page.getByRole('link', { name: 'Sign in with Example' }).click()
    await one.page.getByLabel('Name').waitFor()
    expect(new URL(one.page.url()).origin).toBe(urlOf())
    return one
  }
  /** A page of a browser that has no session anywhere, at the form of the issuer. */
  const openForm = async (path = '') => goToForm(await fixture.open(), path)
  return { fixture, issuerUrl: urlOf, goToForm, openForm }
}
