import type { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import type { Handlers } from '@windlass/rpc/call'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Redis } from '@windlass/runtime/redis/redis'
import { originOf } from '../audit.ts'
import type { Bootstrap } from '../bootstrap.ts'
import { hashOf, matches } from '../tokens.ts'
import * as sessions from './sessions.ts'

export interface Parts {
  db: Db
  redis: Redis
  bootstrapToken: Bootstrap
  sessionIdleS: number
}

export const handlers = ({
  db,
  redis,
  bootstrapToken,
  sessionIdleS,
}: Parts): Handlers<typeof IdentityService> => ({
  async checkBootstrap({ token }) {
    const expected = await bootstrapToken()
    if (expected === undefined) return { configured: false, valid: false }
    return { configured: true, valid: matches(token, hashOf(expected)) }
  },

  issueSession: (request, call) => sessions.issue(db, redis, { ...request, by: originOf(call) }),

  checkSession: (request) => sessions.check(db, request, sessionIdleS),
})
