import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { allowAll, testIdentity } from '@windlass/testkit/service-identity'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { Handlers } from '../src/call.ts'
import { RpcServer } from '../src/server.ts'

export const HOST = '127.0.0.1'

export type IdentityHandlers = Handlers<typeof IdentityService>

async function missing(): Promise<never> {
  throw new Error('not in this test')
}

/** Serves these rpcs of identity until the test ends; any other rpc fails. */
export async function serveIdentity(
  handlers: Partial<IdentityHandlers>,
  { port = 0, host = HOST } = {},
) {
  const server = new RpcServer(pino({ level: 'silent' }), testIdentity('identity'))
  const all = { checkBootstrap: missing, issueSession: missing, checkSession: missing, ...handlers }
  server.serve(IdentityService, all, allowAll(IdentityService))
  const bound = await server.listen({ host, port }, [])
  onTestFinished(() => server.stop())
  return { server, port: bound }
}
