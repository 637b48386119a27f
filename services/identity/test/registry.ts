import { createHash } from 'node:crypto'
import {
  ApiKeysService,
  PrincipalsService,
  RolesService,
} from '@windlass/proto/windlass/identity/v1/principals'
import { openDb } from '@windlass/runtime/db'
import { openRedis, redisReady } from '@windlass/runtime/redis'
import { clientOf } from '@windlass/testkit/cluster'
import { freshDatabase, testUrl } from '@windlass/testkit/database'
import { started } from '@windlass/testkit/service'
import { onTestFinished } from 'vitest'
import { start } from '../src/server.ts'

/** Identity with principals, keys and roles of its own. */
export async function setup() {
  const database = await freshDatabase('identity', new URL('../migrations/', import.meta.url))
  const db = openDb(database, 'identity')
  onTestFinished(() => db.close())
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  const { ports } = await started(start, {
    SVC_POSTGRES__URL: database,
    SVC_REDIS__URL: testUrl('TEST_REDIS_URL'),
    SVC_WORKERS__BOOTSTRAP_TOKEN: 'unused',
  })
  const address = [`127.0.0.1:${ports.grpc}`]
  const principals = clientOf(PrincipalsService, address)
  const keys = clientOf(ApiKeysService, address)
  const roles = clientOf(RolesService, address)
  onTestFinished(() => {
    for (const client of [principals, keys, roles]) client.close()
  })
  const make = (given: Partial<Parameters<typeof principals.create>[0]> = {}) =>
    principals.create({
      subject: 'robot',
      type: 'service_account',
      external_issuer: 'svc',
      display_name: undefined,
      roles: [],
      ...given,
    })
  const find = (key: string) =>
    keys.find({
      prefix: key.split('.')[0] ?? '',
      token_hash: createHash('sha256').update(key).digest(),
    })
  return { database, db, redis, principals, keys, roles, make, find }
}

export const robot = { subject: 'robot', external_issuer: 'svc' }
export const grant = (role: string) => ({ principal: robot, role })
