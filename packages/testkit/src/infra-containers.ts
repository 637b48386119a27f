import { randomBytes } from 'node:crypto'
import type { StartedTestContainer } from 'testcontainers'
import type { Infra } from './infra.ts'
import { images } from './infra-engine.ts'

const NAME = 'windlass'
const HEALTH_CHECK_MS = 250

/** PostgreSQL, NATS and Redis in containers of the engine that answered. */
export async function startContainers(): Promise<Infra> {
  // its reaper is one more image, and not every engine can fetch it; read when the module loads
  const reaper = process.env.RYUK_CONTAINER_IMAGE || process.env.TEST_ALLOW_PULL === '1'
  if (!reaper) process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true'
  const { GenericContainer, Wait } = await import('testcontainers')
  const password = randomBytes(16).toString('hex')

  const postgres = new GenericContainer(images.postgres)
    .withEnvironment({ POSTGRES_USER: NAME, POSTGRES_DB: NAME, POSTGRES_PASSWORD: password })
    .withTmpFs({ '/var/lib/postgresql/data': 'rw' })
    .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=300'])
    .withExposedPorts(5432)
    // over TCP, since the server that prepares the database listens on its socket only
    .withHealthCheck({
      test: ['CMD', 'pg_isready', '-q', '-h', 'localhost', '-U', NAME],
      interval: HEALTH_CHECK_MS,
      retries: 240,
    })
    .withWaitStrategy(Wait.forHealthCheck())
  const nats = new GenericContainer(images.nats)
    .withCommand(['-js', '--user', NAME, '--pass', password])
    .withExposedPorts(4222)
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
  const redis = new GenericContainer(images.redis)
    .withCommand(['redis-server', '--requirepass', password, '--save', ''])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))

  const starts = await Promise.allSettled([postgres.start(), nats.start(), redis.start()])
  const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  const stop = async () => {
    await Promise.all(started.map((container) => container.stop()))
  }
  const failed = starts.find((start) => start.status === 'rejected')
  if (failed) {
    await stop()
    throw failed.reason
  }
  const [pg, bus, cache] = started as [
    StartedTestContainer,
    StartedTestContainer,
    StartedTestContainer,
  ]
  return {
    urls: {
      TEST_POSTGRES_URL: `postgres://${NAME}:${password}@${address(pg, 5432)}/${NAME}`,
      TEST_NATS_URL: `nats://${NAME}:${password}@${address(bus, 4222)}`,
      TEST_REDIS_URL: `redis://:${password}@${address(cache, 6379)}`,
    },
    stop,
  }
}

function address(container: StartedTestContainer, port: number): string {
  return `${container.getHost()}:${container.getMappedPort(port)}`
}
