import { expect, test } from 'vitest'
import { RUN } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'
import { keyOf, serviceAccount } from './service-account.ts'

const LASTING = keyOf('1')
const EXPIRING = keyOf('2')
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

test.each([
  ['run', () => '/workflows/default/hello/run/sync'],
  ['resume', (id: string) => `/workflows/default/hello/resume/${id}/sync`],
])(
  '%s: the key expires during a synchronous wait: 401 that names the execution',
  async (_, pathOf) => {
    const account = { principal: serviceAccount(), permissions: ['*'] }
    const { call, executions } = await startGateway(
      {
        keys: {
          find: async ({ prefix }) => ({
            account,
            expires_at: EXPIRING.startsWith(prefix) ? new Date(Date.now() + 1_000) : undefined,
          }),
        },
      },
      { SVC_SECURITY__AUTH__ENABLED: 'true', SVC_WORKERS__HEARTBEAT_INTERVAL: '0.2' },
    )
    await call('POST', RUN, bearer(LASTING))
    executions.grow(executions.last, 'PAUSED')
    const path = pathOf(executions.last)

    const refused = await call('POST', path, bearer(EXPIRING))
    expect([refused.status, await refused.json()]).toEqual([
      401,
      { detail: { message: 'Invalid or expired token', execution_id: executions.last } },
    ])
    // A caller that is still authorized waits on.
    const waiting = call('POST', path, bearer(LASTING))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    executions.grow(executions.last, 'COMPLETED', [{ type: 'WORKFLOW_COMPLETED', value_json: '1' }])
    expect((await waiting).status).toBe(200)
  },
)
