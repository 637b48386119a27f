import { randomBytes } from 'node:crypto'
import type { StartedTestContainer } from 'testcontainers'
import { images } from './infra-engine.ts'
import type { Infra } from './infra-handle.ts'

const NAME = 'windlass'
const NATS_CONF = '/etc/windlass-nats.conf'
const SCRIPTS = new URL('../../../scripts/stores/', import.meta.url)

/** Starts PostgreSQL, NATS and Redis in containers. */
export async function startContainers(): Promise<Infra> {
  // The reaper is a further image that not every engine can fetch; the variable is read at import.
  const reaper = process.env.RYUK_CONTAINER_IMAGE || process.env.TEST_ALLOW_PULL === '1'
  if (!reaper) process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true'
  const { GenericContainer, Wait } = await import('testcontainers')
  const password = randomBytes(16).toString('hex')

  const postgres = new GenericContainer(images.postgres)
    .withEnvironment({ POSTGRES_USER: NAME, POSTGRES_DB: NAME, POSTGRES_PASSWORD: password })
    .withTmpFs({ '/var/lib/postgresql/data': 'rw' })
    .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=300'])
    .withExposedPorts(5432)
    // The temporary server that initializes the database says so too. A health check would be run as long as
    // the tests run, and each costs the engine tens of milliseconds of processor time.
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
  const { natsConf, redisArgs } = await usersOf(password)
  const nats = new GenericContainer(images.nats)
    .withCopyContentToContainer([{ content: natsConf, target: NATS_CONF }])
    .withCommand(['-c', NATS_CONF])
    .withExposedPorts(4222)
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
  const redis = new GenericContainer(images.redis)
    .withCommand(['redis-server', '--requirepass', password, '--save', '', ...redisArgs])
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
      TEST_SERVICE_USERS: '1',
      TEST_POSTGRES_URL: `postgres://${NAME}:${password}@${address(pg, 5432)}/${NAME}`,
      TEST_NATS_URL: `nats://${NAME}:${password}@${address(bus, 4222)}`,
      TEST_REDIS_URL: `redis://:${password}@${address(cache, 6379)}`,
    },
    stop,
  }
}

interface Scripts {
  natsConfig(given: object): string
  redisUsers(passwordOf: (service: string) => string): string[]
  servicePassword(password: string, service: string): string
}

/** Builds the NATS and Redis users, the same as those of the local processes. */
async function usersOf(password: string) {
  const load = (name: string) => import(/* @vite-ignore */ new URL(name, SCRIPTS).href)
  const { natsConfig, redisUsers, servicePassword }: Scripts = {
    ...(await load('nats-config.ts')),
    ...(await load('redis-users.ts')),
    ...(await load('service-passwords.ts')),
  }
  const passwordOf = (service: string) => servicePassword(password, service)
  const all = { user: NAME, password }
  const place = { host: '0.0.0.0', port: 4222, store: '/tmp/jetstream', prefixes: ['', '*'] }
  return {
    natsConf: natsConfig({ ...place, all, passwordOf }),
    redisArgs: redisUsers(passwordOf).flatMap((line) => `--${line}`.split(' ')),
  }
}

function address(container: StartedTestContainer, port: number): string {
  return `${container.getHost()}:${container.getMappedPort(port)}`
}
