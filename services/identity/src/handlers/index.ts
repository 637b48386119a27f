import type { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import type { Handlers } from '@windlass/rpc/call'
import type { CacheInvalidator } from '@windlass/runtime/cache-generation'
import type { Db } from '@windlass/runtime/postgres/db'
import type { ReadBootstrapToken } from '../engine/bootstrap-token.ts'
import { originOf } from '../engine/record-change.ts'
import { hasHash, hashOf } from '../engine/tokens.ts'
import * as sessions from './session-handlers.ts'

export interface IdentityDeps {
  db: Db
  caches: CacheInvalidator
  bootstrapToken: ReadBootstrapToken
  sessionIdleS: number
}

export const handlers = ({
  db,
  caches,
  bootstrapToken,
  sessionIdleS,
}: IdentityDeps): Handlers<typeof IdentityService> => ({
  async checkBootstrap({ token }) {
    const expected = await bootstrapToken()
    if (expected === undefined) return { configured: false, valid: false }
    return { configured: true, valid: hasHash(token, hashOf(expected)) }
  },

  issueSession: (request, call) =>
    sessions.issueSession(db, caches, { ...request, by: originOf(call) }),

  checkSession: (request) => sessions.checkSession(db, request, sessionIdleS),
})
