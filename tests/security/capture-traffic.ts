import { openBus } from '@windlass/runtime/nats/bus'
import { createLog } from '@windlass/runtime/process/log'
import { openRedis, type Redis, redisReady } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import type { Defer } from '@windlass/testkit/defer'

/** Captures all traffic of NATS and Redis. Returns a function for it and the content of Redis. */
export async function captureTraffic(defer: Defer) {
  const captured: string[] = []
  const bus = await openBus(testUrl('TEST_NATS_URL'), createLog('test', 'silent'))
  defer(() => bus.close())
  const everything = bus.subscribeBestEffort('>', (bytes, subject) => {
    captured.push(`nats ${subject} ${Buffer.from(bytes).toString('latin1')}`)
  })
  await everything.confirmed()

  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  defer(() => redis.disconnect())
  await redisReady(redis)
  const monitor = await redis.monitor()
  defer(() => monitor.disconnect())
  monitor.on('monitor', (_, args: string[]) => captured.push(`redis ${args.join(' ')}`))
  return async () => ({
    text: [...captured, ...(await contentsOf(redis))].join('\n'),
    keys: await redis.keys('*'),
  })
}

/** Dumps all keys with their values: text as it is, other types as Redis serializes them. */
async function contentsOf(redis: Redis): Promise<string[]> {
  const lines: string[] = []
  for (const key of await redis.keys('*')) {
    const type = await redis.type(key)
    const held = type === 'string' ? await redis.get(key) : await redis.dumpBuffer(key)
    lines.push(`redis ${key} ${held?.toString('latin1' as never)}`)
  }
  return lines
}
