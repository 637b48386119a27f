import { readFileSync } from 'node:fs'
import { Redis as IoRedis, type RedisOptions, ReplyError } from 'ioredis'
import { countDependencyFailure } from '../dependency-failures.ts'
import { startTimeLimit, waitAtMost } from '../timeout.ts'

interface RedisTls {
  tls_ca?: string | undefined
  tls_cert?: string | undefined
  tls_key?: string | undefined
}

const COMMAND_MS = 500
const CONNECT_MS = 2_000
/**
 * Time for Redis to close a connection that is given up, which shows that it runs no more commands of it. Half of
 * CONNECT_MS, so that callers that wait for a new connection do so for longer.
 */
const DISCONNECT_MS = 1_000
const MAX_RECONNECT_MS = 1_000

/**
 * Opens a connection whose commands fail at once while Redis is unavailable; callers work without it.
 * The connection is also the circuit breaker for a Redis that hangs: the first command that is not
 * answered in time closes it, and a new connection takes commands once Redis has answered on it.
 * A rediss:// URL may have an authority of the server's certificate, and a client certificate.
 * `commandMs` is the time limit of a command, in milliseconds.
 */
export function openRedis(
  url: string,
  { tls_ca, tls_cert, tls_key }: RedisTls = {},
  commandMs = COMMAND_MS,
): Redis {
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
  const redis = new Redis(url, commandMs, {
    ...(protocol === 'rediss:' && { tls: files }),
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    connectTimeout: CONNECT_MS,
    disconnectTimeout: DISCONNECT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_MS),
  })
  redis.on('error', () => {})
  return redis
}

/** The connection that `openRedis` opens. */
export class Redis extends IoRedis {
  readonly #commandMs: number
  #lostMs: number | undefined
  #nextReady: Promise<void> | undefined

  constructor(url: string, commandMs: number, options: RedisOptions) {
    super(url, options)
    this.#commandMs = commandMs
    this.on('ready', () => {
      this.#lostMs = undefined
    })
    this.on('close', () => {
      this.#lostMs ??= performance.now()
    })
  }

  /** Milliseconds since the last connection closed, or the first attempt failed; 0 before and while there is one. */
  get lostForMs(): number {
    return this.#lostMs === undefined ? 0 : performance.now() - this.#lostMs
  }

  /** Resolves with the next connection; one promise for all callers, so that they add one listener. */
  get nextReady(): Promise<void> {
    this.#nextReady ??= new Promise((resolve) => {
      this.once('ready', () => {
        this.#nextReady = undefined
        resolve()
      })
    })
    return this.#nextReady
  }

  /** Has a time limit of its own: that of ioredis also ends commands whose answer waits in the socket. */
  override sendCommand(...[command, stream]: Parameters<IoRedis['sendCommand']>): unknown {
    const socket = this.stream
    const release = startTimeLimit(this.#commandMs, () => {
      command.reject(new Error('Command timed out'))
      // The first command of a connection that is late closes it.
      if (this.stream !== socket || !socket?.writable) return
      countDependencyFailure('redis', 'timeout')
      this.disconnect(true)
    })
    command.promise.then(release, release)
    return super.sendCommand(command, stream)
  }
}

/** Waits for the first connection, for at most `ms` milliseconds: a service also starts without Redis, without caches. */
export async function redisReady(redis: Redis, ms = CONNECT_MS): Promise<void> {
  if (isReady(redis)) return
  await waitAtMost(ms, redis.nextReady)
}

/** A connection that was closed because of a time limit is still `ready` until its socket has closed. */
const isReady = ({ status, stream }: Redis) => status === 'ready' && stream.writable

/**
 * Runs a command that may run twice, for a caller that cannot work without Redis: once more if the connection broke and
 * is back soon, since one late answer closes it for all. Fails at once when Redis has been unavailable for CONNECT_MS.
 */
export async function runRepeatable<T>(redis: Redis, command: () => Promise<T>): Promise<T> {
  try {
    return await command()
  } catch (error) {
    if (error instanceof ReplyError) throw error
    const { lostForMs } = redis
    if (lostForMs >= CONNECT_MS) throw error
    await redisReady(redis, CONNECT_MS - lostForMs)
    return command()
  }
}
