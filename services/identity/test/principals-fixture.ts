import { createHash } from 'node:crypto'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { onTestFinished } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

/** Identity with a new database, and helpers for principals and keys. */
export async function principalsFixture() {
  const { database, db, replica } = await startIdentity()
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  const { principals, keys, roles } = await replica()
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
