import type { ListConfigUsesRequest } from '@windlass/proto/windlass/identity/v1/secrets'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
const AT = new Date('2026-01-01T00:00:00Z')

const use = (config: string, namespace: string, workflow: string) => ({
  ...{ config, namespace, workflow, version: 2, last_execution_id: 'e' },
  ...{ first_used_at: AT, last_used_at: AT },
})
const shown = {
  version: 2,
  last_execution_id: 'e',
  ...{ first_used_at: AT.toISOString(), last_used_at: AT.toISOString() },
}

async function setup(permissions: string[]) {
  const requests: ListConfigUsesRequest[] = []
  const listUses = async (request: ListConfigUsesRequest) => {
    requests.push(request)
    const names = request.name === '' ? ['db', 'mail'] : [request.name]
    const workflows = request.workflow === '' ? ['order', 'report'] : [request.workflow]
    const namespaces = request.namespace === '' ? ['team', 'other'] : [request.namespace]
    return {
      uses: names.flatMap((name) =>
        namespaces.flatMap((namespace) => workflows.map((one) => use(name, namespace, one))),
      ),
    }
  }
  const { call } = await startGateway(
    {
      keys: {
        find: async () => ({
          account: { principal: serviceAccount(), permissions },
          expires_at: undefined,
        }),
      },
      configs: { listUses },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  const get = async (path: string) => {
    const response = await call('GET', path, { headers: { authorization: `Bearer ${KEY}` } })
    return { status: response.status, body: await response.json() }
  }
  return { get, requests }
}

test('uses of a config: workflows that the caller may read; the others are counted', async () => {
  const { get, requests } = await setup(['config:*:read', 'workflow:team:*:read'])
  expect(await get('/admin/configs/db/uses')).toEqual({
    status: 200,
    body: {
      workflows: ['order', 'report'].map((name) => ({ namespace: 'team', name, ...shown })),
      others: 2,
    },
  })
  expect(requests).toMatchObject([{ name: 'db', namespace: '', workflow: '' }])
})

test('configs of a workflow: listed with the right to read configs, null without it', async () => {
  const { get, requests } = await setup(['config:*:read', 'workflow:team:order:read'])
  expect(await get('/workflows/team/order/configs')).toEqual({
    status: 200,
    body: { configs: ['db', 'mail'].map((name) => ({ name, ...shown })), cut: false },
  })
  expect(requests).toMatchObject([{ name: '', namespace: 'team', workflow: 'order' }])
  const other = await setup(['workflow:team:order:read'])
  expect(await other.get('/workflows/team/order/configs')).toEqual({
    status: 200,
    body: { configs: null, cut: false },
  })
  expect(other.requests).toEqual([])
})

test('uses without the right to the config or the workflow: 403', async () => {
  const { get: reader } = await setup(['workflow:*'])
  expect((await reader('/admin/configs/db/uses')).status).toBe(403)
  const { get: operator } = await setup(['config:*:read', 'workflow:other:*:read'])
  expect((await operator('/workflows/team/order/configs')).status).toBe(403)
})
