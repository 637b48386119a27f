import { read, send } from './server.ts'

/** A session of the console of the caller. */
export interface SessionRow {
  id: string
  created_at: string
  last_used_at: string
  user_agent: string
  /** True for the session of this browser. */
  current: boolean
}

export const listSessions = (signal?: AbortSignal) =>
  read<{ sessions: SessionRow[] }>('/console/sessions', {}, signal)

export const revokeSession = (id: string) =>
  send({ method: 'DELETE', path: `/console/sessions/${id}` })
