import type { Settings } from '@windlass/runtime/config/settings'
import { Fault, invalid } from '@windlass/runtime/faults'
import { exactClientAddress } from '@windlass/runtime/http/client-address'
import { z } from 'zod'
import { type AuthenticateToken, isApiKey } from '../access/api-key.ts'
import type { Caller } from '../access/caller.ts'
import {
  endNamedSession,
  endSession,
  isOfConsole,
  requireSafeCookie,
  setCookie,
} from '../access/console-cookie.ts'
import type { ConsoleSessions } from '../access/console-session.ts'
import type { GuessLimit } from '../access/guess-limit.ts'
import type { RequestContext } from '../http/request-context.ts'
import { json } from '../route/body.ts'
import { route } from '../route/route.ts'
import { Success } from './schemas.ts'

type Deps = {
  authenticateToken: AuthenticateToken
  consoleSessions: ConsoleSessions
  signInGuesses: GuessLimit
  settings: Settings
}

const MAX_KEY_CHARS = 256

/** Otherwise a page of another site could sign a browser in under another name, or sign it out. */
function requireConsole(ctx: RequestContext): void {
  if (!isOfConsole(ctx))
    throw new Fault('forbidden', 'Only the console uses this route; programs send their API key')
}

const SignIn = z
  .strictObject({ api_key: z.string().min(1).max(MAX_KEY_CHARS) })
  .meta({ id: 'SignIn' })

export const openSession = route('post', '/console/session', {
  summary: 'Sign a browser in to the console with an API key; the answer sets a cookie',
  access: 'public',
  body: json(SignIn, { size: 'names' }),
  returns: Success,
  async handle({ body, ctx }, deps: Deps) {
    const { settings, consoleSessions, signInGuesses } = deps
    requireConsole(ctx)
    if (!settings.security.auth.enabled)
      throw invalid('Authentication is off: no sign-in is needed')
    requireSafeCookie(ctx, settings)
    const key = body.api_key.trim()
    const { caller } = await signInGuesses.verify(ctx, key, () => check(key, ctx, deps))
    if (!caller) throw new Fault('unauthenticated', 'Invalid or expired API key')
    await endNamedSession(ctx, deps)
    const token = await consoleSessions.open(key, caller, ctx.header('user-agent'))
    setCookie(ctx, settings, token, consoleSessions.maxAgeMs)
    return { status: 'success' as const, message: 'Signed in' }
  },
})

interface Checked {
  valid: boolean
  caller?: Caller
}

async function check(key: string, ctx: RequestContext, deps: Deps): Promise<Checked> {
  if (!isApiKey(key)) return { valid: false }
  const address = exactClientAddress(ctx.req, deps.settings.server.trusted_proxies)
  try {
    return { valid: true, caller: await deps.authenticateToken(key, address) }
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unauthenticated') return { valid: false }
    throw error
  }
}

export const closeSession = route('delete', '/console/session', {
  summary: 'Sign the browser out of the console',
  access: 'public',
  returns: Success,
  async handle({ ctx }, deps: Deps) {
    requireConsole(ctx)
    await endSession(ctx, deps)
    return { status: 'success' as const, message: 'Signed out' }
  },
})
