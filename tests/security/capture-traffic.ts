import { once } from 'node:events'
import { connect } from 'node:net'
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
  const commands = await monitorCommands(new URL(testUrl('TEST_REDIS_URL')), defer)
  return async () => ({
    text: [...captured, commands(), ...(await contentsOf(redis))].join('\n'),
    keys: await redis.keys('*'),
  })
}

/**
 * Records all commands that Redis receives, and returns what it has recorded. The monitor of ioredis fails if a command
 * arrives together with the answer that it has begun.
 */
async function monitorCommands(
  { hostname, port, password }: URL,
  defer: Defer,
): Promise<() => string> {
  const socket = connect(Number(port), hostname)
  defer(() => socket.destroy())
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  const recorded = () => Buffer.concat(chunks).toString('latin1')
  socket.write(`AUTH ${password}\r\nMONITOR\r\n`)
  while (!recorded().startsWith('+OK\r\n+OK\r\n')) {
    if (recorded().includes('-')) throw new Error(`Redis does not monitor: ${recorded()}`)
    await once(socket, 'data')
  }
  return recorded
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
