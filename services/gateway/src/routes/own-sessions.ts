import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import { sessionIdOf } from '../access/console-cookie.ts'
import type { ConsoleSessions } from '../access/console-session.ts'
import type { Param } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { CONSOLE_SESSION } from './examples.ts'
import { Success } from './schemas.ts'

type Deps = { consoleSessions: ConsoleSessions; settings: Settings }

const SESSION_ID = /^[A-Za-z0-9_-]{43}$/

const sessionId: Param = {
  schema: z.string().meta({ wire: { type: 'string', pattern: SESSION_ID.source } }),
  read(text) {
    if (!SESSION_ID.test(text)) throw new Fault('not_found', 'Not Found')
    return text
  },
}

/** Executions and workers act for a principal, but its sessions are not theirs: they have none. */
const isPrincipal = ({ execution, session }: Caller) => !(execution || session)

const ConsoleSession = z
  .object({
    /** A hash; it gives no access. */
    id: z.string(),
    created_at: z.iso.datetime(),
    /** To the minute. */
    last_used_at: z.iso.datetime(),
    /** The beginning of the User-Agent header of the sign-in; empty if there was none. */
    user_agent: z.string(),
    /** True for the session that this request belongs to. */
    current: z.boolean(),
  })
  .meta({ id: 'ConsoleSession' })

export const listSessions = route('get', '/console/sessions', {
  summary: "List the caller's sessions of the console, newest first",
  access: 'authenticated',
  returns: z
    .object({ sessions: z.array(ConsoleSession) })
    .meta({ id: 'ConsoleSessions', examples: [{ sessions: [CONSOLE_SESSION] }] }),
  async handle({ caller, ctx }, { consoleSessions, settings }: Deps) {
    const current = sessionIdOf(ctx, settings)
    const canHave = settings.security.auth.enabled && isPrincipal(caller)
    const known = canHave ? await consoleSessions.list(caller) : []
    const sessions = known.map(({ id, created, used, agent }) => ({
      id,
      created_at: new Date(created).toISOString(),
      last_used_at: new Date(used).toISOString(),
      user_agent: agent,
      current: id === current,
    }))
    return { sessions }
  },
})

export const revokeSession = route('delete', '/console/sessions/{session_id}', {
  summary: "End one of the caller's sessions of the console",
  access: 'authenticated',
  params: { session_id: sessionId },
  returns: Success,
  async handle({ params: { session_id }, caller }, { consoleSessions }: Deps) {
    const isEnded = isPrincipal(caller) && (await consoleSessions.revoke(caller, session_id))
    if (!isEnded) throw new Fault('not_found', 'You have no session with this id')
    return { status: 'success' as const, message: 'Session ended' }
  },
})
