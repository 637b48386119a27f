import { StatusError } from '@windlass/api-client/errors'
import { ME } from './intervals.ts'
import { learnMaxBody, read, send } from './server.ts'
import { type Answer, useQuery } from './use-query.ts'

/** The answer of `GET /me`: the caller, its rights and the features of the server. */
export interface Me {
  subject: string
  issuer: string | null
  roles: string[]
  permissions: string[]
  server_version: string
  /** `demo` is absent in the answer of an earlier release. */
  features: { authentication: boolean; oidc: boolean; demo?: boolean }
  limits: { max_body_bytes: number; max_workflow_upload_bytes: number; max_page: number }
}

/** The principal of this page; undefined before the sign-in. */
let principal: string | undefined

/**
 * Reads who the caller is. Tabs share a cookie: if another person has signed in, in another tab, the page is loaded
 * again, so that nothing of the person before stays in it.
 */
export async function readMe(signal: AbortSignal): Promise<Me> {
  const me = await read<Me>('/me', {}, signal).catch((error) => {
    if (error instanceof StatusError && error.status === 401) principal = undefined
    throw error
  })
  learnMaxBody(me.limits.max_body_bytes)
  const before = principal
  principal = JSON.stringify([me.issuer, me.subject])
  if (before !== undefined && before !== principal) window.location.reload()
  return me
}

export const useMe = (): Answer<Me> => useQuery('me', readMe, ME)

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  await send({ method: 'DELETE', path: '/console/session' })
  window.location.reload()
}
