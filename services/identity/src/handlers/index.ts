import type { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import type { Handlers } from '@windlass/rpc/call'
import { originOf } from '../engine/record-change.ts'
import { hasHash, hashOf, workerTokenPrefixOf } from '../engine/tokens.ts'
import * as sessions from './session-handlers.ts'
import { checkWorkerToken } from './worker-token-handlers.ts'

interface IdentityDeps extends sessions.SessionDeps {
  bootstrapToken: () => Promise<string | undefined>
}

export const handlers = (deps: IdentityDeps): Handlers<typeof IdentityService> => ({
  async checkBootstrap({ token, accepts_grants }) {
    if (accepts_grants && workerTokenPrefixOf(token)) return checkWorkerToken(deps.db, token)
    const expected = await deps.bootstrapToken()
    if (expected === undefined) return { configured: false, valid: false }
    return { configured: true, valid: hasHash(token, hashOf(expected)) }
  },

  issueSession: (request, call) => sessions.issueSession(deps, request, originOf(call)),

  checkSession: (request) => sessions.checkSession(deps, request),
})
