import { PrincipalsService } from '@windlass/proto/windlass/identity/v1/principals'
import { openDb } from '@windlass/runtime/db'
import { connect } from '@windlass/runtime/rpc-client'
import { sql } from '@windlass/runtime/sql'
import { testCluster } from '@windlass/testkit/cluster'
import { freshDatabase, testUrl } from '@windlass/testkit/database'
import { started } from '@windlass/testkit/service'
import { expect, onTestFinished, test } from 'vitest'
import { start } from '../src/server.ts'

async function setup() {
  const database = await freshDatabase('identity', new URL('../migrations/', import.meta.url))
  const db = openDb(database, 'identity')
  onTestFinished(() => db.close())
  const { ports } = await started(start, {
    SVC_POSTGRES__URL: database,
    SVC_REDIS__URL: testUrl('TEST_REDIS_URL'),
    SVC_WORKERS__BOOTSTRAP_TOKEN: 'unused',
  })
  const principals = connect(PrincipalsService, [`127.0.0.1:${ports.grpc}`], testCluster)
  onTestFinished(() => principals.close())
  return { db, principals }
}

test('a newcomer is made once, with the roles of newcomers', async () => {
  const { db, principals } = await setup()
  const principal = { subject: 'eve', external_issuer: 'https://idp/' }
  await expect(principals.resolve(principal)).rejects.toMatchObject({ kind: 'not_found' })
  const ask = { principal, display_name: 'Eve', roles: ['viewer'], metadata_json: '{"azp":"app"}' }
  const { principal: eve, permissions } = await principals.provision(ask)
  expect(eve).toMatchObject({ ...principal, type: 'user', roles: ['viewer'], display_name: 'Eve' })
  expect(permissions).toContain('workflow:*:*:read')
  expect(await principals.provision({ ...ask, roles: ['admin'] })).toEqual({
    principal: eve,
    permissions,
  })
  expect(await principals.resolve(principal)).toEqual({ principal: eve, permissions })
  const kept = await db.maybe<{ metadata: string }>(sql`select metadata from principals`)
  expect(kept?.metadata).toBe('{"azp":"app"}')
})
