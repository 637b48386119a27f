import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import { expiresIn, type Signer } from '@windlass/runtime/signed'
import { z } from 'zod'
import { toCaller } from '../access/api-key.ts'
import {
  endNamedSession,
  flowCookieOf,
  publicAddress,
  requireSafeCookie,
  sessionIdOf,
  setCookie,
  setFlowCookie,
} from '../access/console-cookie.ts'
import type { ConsoleIdentities } from '../access/console-identity.ts'
import { type ConsoleOidc, consoleIssuer, type Flow } from '../access/console-oidc.ts'
import type { ConsoleSessions } from '../access/console-session.ts'
import type { GuessLimit } from '../access/guess-limit.ts'
import { accountOf, type OidcAccountDeps } from '../access/oidc-account.ts'
import type { RequestContext } from '../http/request-context.ts'
import { text } from '../route/fields.ts'
import { Page } from '../route/media.ts'
import { StreamedResponse } from '../route/reply.ts'
import { route } from '../route/route.ts'

type Deps = OidcAccountDeps & {
  settings: Settings
  /** Absent: people sign in with API keys only. */
  consoleOidc: { client: ConsoleOidc; flows: Signer<FlowClaims> } | undefined
  consoleIdentities: ConsoleIdentities
  consoleSessions: ConsoleSessions
  signInGuesses: GuessLimit
}

/** The cookie of a flow. */
export interface FlowClaims extends Flow {
  /** Place in the console after the sign-in, relative to its root. */
  return_to: string
  /**
   * Id of the session at the begin of the flow, which the sign-in replaces: a browser does not send a cookie that is
   * SameSite=Strict with the callback, a navigation from the issuer.
   */
  replaces?: string | undefined
}

const FLOW_S = 600
const CALLBACK = 'console/oidc/callback'

export const getSignIn = route('get', '/console/sign-in', {
  summary: 'Show which ways to sign in to the console there are',
  access: 'public',
  returns: z
    .object({
      /** False: authentication is off, every caller has all rights, and there is no sign-in. */
      required: z.boolean(),
      /** `POST /console/session` takes an API key. */
      api_key: z.boolean(),
      /** Navigate to `start`, relative to the root of the server; null: no issuer is configured. */
      oidc: z.object({ name: z.string(), start: z.string() }).nullable(),
    })
    .meta({ id: 'SignInOptions' }),
  async handle(_, { settings }: Deps) {
    const required = settings.security.auth.enabled
    const { enabled, name } = settings.console.oidc
    if (!required || !enabled) return { required, api_key: required, oidc: null }
    const start = 'console/oidc/start'
    const oidc = { name: name || new URL(consoleIssuer(settings)).host, start }
    return { required, api_key: true, oidc }
  },
})

const page = { access: 'public', returns: Page, isPage: true } as const

/**
 * A place in the console: not on another server, and not outside of `/console/`. For a browser, `%2e` is a dot in
 * a path.
 */
const PLACE = /^(?!\/)(?!.*(?:(?:\.|%2e){2}|\/\/|\\))[\w./?=&%~+,:@-]*$/i

export const startOidcSignIn = route('get', '/console/oidc/start', {
  ...page,
  summary: 'Begin a sign-in at the OIDC issuer',
  query: { return_to: text(1_024).default('') },
  async handle({ query, ctx }, deps: Deps) {
    const { client, flows } = requireOidc(deps)
    requireSafeCookie(ctx, deps.settings)
    const site = ctx.header('sec-fetch-site')
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      throw new Fault('forbidden', 'A sign-in begins in the console: open /console/')
    const return_to = PLACE.test(query.return_to) ? query.return_to : ''
    const { location, flow } = await client.begin(redirectUri(ctx, deps))
    const replaces = sessionIdOf(ctx, deps.settings)
    const cookie = flows.sign({ ...flow, return_to, replaces, exp: expiresIn(FLOW_S) })
    setFlowCookie(ctx, deps.settings, cookie, FLOW_S * 1_000)
    return redirect(location)
  },
})

export const finishOidcSignIn = route('get', '/console/oidc/callback', {
  ...page,
  summary: 'End a sign-in at the OIDC issuer: its redirect leads here',
  async handle({ ctx }, deps: Deps) {
    const { client } = requireOidc(deps)
    const { settings, consoleSessions, consoleIdentities, signInGuesses } = deps
    requireSafeCookie(ctx, settings)
    const parameters = new URLSearchParams(ctx.search)
    const flow = flowOf(ctx, parameters, deps)
    if (!flow) return redirect('../?sign_in=expired')
    setFlowCookie(ctx, settings, '', 0)
    const finish = () => client.finish(parameters, flow, redirectUri(ctx, deps))
    const { caller, problem } = await signInGuesses.verify(ctx, flow.state, async () => {
      try {
        const issuer = consoleIssuer(settings)
        const roles = settings.security.auth.oidc.default_user_roles
        const account = await accountOf(deps, await finish(), { issuer, roles })
        return { valid: true, caller: toCaller(account), problem: '' }
      } catch (error) {
        return { valid: false, caller: undefined, problem: problemOf(error) }
      }
    })
    if (!caller) return redirect(`../?sign_in=${problem}`)
    await endFormerSession(ctx, flow, deps)
    const credential = consoleIdentities.issue(caller)
    const token = await consoleSessions.open(credential, caller, ctx.header('user-agent'))
    setCookie(ctx, settings, token, consoleSessions.maxAgeMs)
    return redirect(`../${flow.return_to}`)
  },
})

/**
 * Returns the flow that a callback belongs to. One of another state leaves the cookie as it is: another tab, or a page
 * of another site, must not end the flow that this browser began last.
 */
function flowOf(
  ctx: RequestContext,
  parameters: URLSearchParams,
  deps: Deps,
): FlowClaims | undefined {
  const cookie = flowCookieOf(ctx, deps.settings)
  const flow = cookie === undefined ? undefined : requireOidc(deps).flows.verify(cookie)
  return flow?.state === parameters.get('state') ? flow : undefined
}

async function endFormerSession(ctx: RequestContext, { replaces }: FlowClaims, deps: Deps) {
  await endNamedSession(ctx, deps)
  if (replaces !== undefined) await deps.consoleSessions.end(replaces)
}

/** The console shows the problem in `?sign_in=`; only the log says which part of a token was wrong. */
function problemOf(error: unknown): 'refused' | 'unknown_principal' | 'unavailable' {
  if (!(error instanceof Fault)) throw error
  if (error.kind !== 'unauthenticated') return 'unavailable'
  return error.message === 'Principal not provisioned' ? 'unknown_principal' : 'refused'
}

function requireOidc({ consoleOidc, settings }: Deps) {
  if (!consoleOidc || !settings.security.auth.enabled) throw new Fault('not_found', 'Not Found')
  return consoleOidc
}

const redirectUri = (ctx: RequestContext, { settings }: Deps) =>
  publicAddress(ctx, settings, CALLBACK)

const redirect = (location: string) =>
  new StreamedResponse(async ({ res, id, responseHeaders }) => {
    const isStored = responseHeaders.includes('cache-control')
    const headers = [
      ...['location', location, 'content-length', '0', 'x-request-id', id],
      ...['referrer-policy', 'no-referrer', ...responseHeaders],
      ...(isStored ? [] : ['cache-control', 'no-store']),
    ]
    res.writeHead(302, headers).end()
  })
