import type { RegisterRequest } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { Fault } from '@windlass/runtime/faults'
import { workerRecord } from '@windlass/testkit/worker-record'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

const WORKER = { ...workerRecord('w1'), instance: 'i1' }
const SESSION_ID = '7'.repeat(32)
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function setup() {
  const registered: RegisterRequest[] = []
  const callers: unknown[] = []
  const gateway = await startGateway({
    identity: {
      checkBootstrap: async ({ token }) => ({ configured: true, valid: token === 'boot' }),
      issueSession: async (_, { caller }) => {
        callers.push(caller?.subject)
        return { token: 'ws_next' }
      },
      async checkSession({ token }) {
        if (token !== 'ws_live') throw new Fault('unauthenticated', 'Invalid or expired token')
        return { worker_name: 'w1', session_id: SESSION_ID }
      },
    },
    dispatcher: {
      async register(request) {
        registered.push(request)
        if (!request.worker) throw new Error('no worker')
        return { worker: { ...request.worker, session_id: SESSION_ID }, session_id: SESSION_ID }
      },
    },
  })
  const register = async (token: string, body = WORKER) => {
    const response = await gateway.json('POST', '/workers/register', body, bearer(token))
    return { status: response.status, body: await response.json() }
  }
  return { register, registered, callers }
}

test('a session token: renews the registration of its own worker', async () => {
  const { register, registered, callers } = await setup()
  expect(await register('ws_live')).toMatchObject({
    status: 200,
    body: { session_token: 'ws_next' },
  })
  expect(registered[0]).toMatchObject({ renewal: true, proven_session_id: SESSION_ID })
  expect(callers).toEqual(['session-token'])
})

test('a session token of another worker, or of an ended session: 403', async () => {
  const { register, registered } = await setup()
  expect(await register('ws_live', { ...WORKER, name: 'w2' })).toEqual({
    status: 403,
    body: {
      detail: "Worker identity mismatch: authenticated as 'w1', but accessing endpoint for 'w2'",
    },
  })
  expect(await register('ws_ended')).toEqual({
    status: 403,
    body: { detail: 'Invalid bootstrap token.' },
  })
  expect(registered).toEqual([])
})

test('a bootstrap token: not a renewal', async () => {
  const { register, registered, callers } = await setup()
  expect((await register('boot')).status).toBe(200)
  expect(registered[0]).toMatchObject({ renewal: false, proven_session_id: '' })
  expect(callers).toEqual(['bootstrap-token'])
})
