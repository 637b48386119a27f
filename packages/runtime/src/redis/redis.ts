import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { countDependencyFailure } from '../dependency-failures.ts'
import { waitAtMost } from '../timeout.ts'

interface RedisTls {
  tls_ca?: string | undefined
  tls_cert?: string | undefined
  tls_key?: string | undefined
}

const COMMAND_MS = 500
const CONNECT_MS = 2_000
const MAX_RECONNECT_MS = 1_000

/**
 * Opens a connection whose commands fail at once while Redis is unavailable; callers work without it.
 * The connection is also the circuit breaker for a Redis that hangs: the first command that is not
 * answered in time closes it, and a new connection takes commands once Redis has answered on it.
 * A rediss:// URL may have an authority of the server's certificate, and a client certificate.
 */
export function openRedis(url: string, { tls_ca, tls_cert, tls_key }: RedisTls = {}): Redis {
  const { protocol } = new URL(url)
  if (protocol !== 'redis:' && protocol !== 'rediss:')
    throw new Error('[svc.redis].url must begin with redis:// or rediss://')
  if (protocol === 'redis:' && (tls_ca || tls_cert || tls_key))
    throw new Error('[svc.redis] has certificates: begin its url with rediss://')
  const files = {
    ...(tls_ca && { ca: readFileSync(tls_ca) }),
    ...(tls_cert && { cert: readFileSync(tls_cert) }),
    ...(tls_key && { key: readFileSync(tls_key) }),
  }
  const redis = new BreakingRedis(url, {
    ...(protocol === 'rediss:' && { tls: files }),
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    commandTimeout: COMMAND_MS,
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_MS),
  })
  redis.on('error', () => {})
  return redis
}

class BreakingRedis extends Redis {
  override sendCommand(...[command, stream]: Parameters<Redis['sendCommand']>): unknown {
    const socket = this.stream
    command.promise.catch((error: Error) => {
      // Other commands of the connection end with it; the first one closes it.
      if (error.message !== 'Command timed out' || this.stream !== socket) return
      countDependencyFailure('redis', 'timeout')
      this.disconnect(true)
    })
    return super.sendCommand(command, stream)
  }
}

/** Waits for the first connection, for at most `ms` milliseconds: a service also starts without Redis, without caches. */
export async function redisReady(redis: Redis, ms = CONNECT_MS): Promise<void> {
  if (redis.status === 'ready') return
  await waitAtMost(ms, new Promise<void>((resolve) => redis.once('ready', resolve)))
}

export type { Redis }
