import { startNats } from './nats.mjs'
import { ensureInfraPrograms } from './packages.mjs'
import { startPostgres } from './postgres.mjs'
import { startRedis } from './redis.mjs'

/** Starts private PostgreSQL, NATS and Redis in a data directory, installing what is missing. */
export async function startInfra({ processes, dir, progress, durable = true }) {
  await ensureInfraPrograms(progress)
  return progress.step('Starting PostgreSQL, NATS and Redis', async () => {
    const starts = [
      startPostgres(processes, dir, { durable }),
      startNats(processes, dir),
      startRedis(processes, dir),
    ]
    const settled = await Promise.allSettled(starts)
    const failed = settled.find((start) => start.status === 'rejected')
    if (failed) throw failed.reason
    const [postgres, nats, redis] = settled.map((start) => start.value)
    return { postgres, nats, redis }
  })
}

/** The environment in which the tests find their infrastructure. */
export function testEnv({ postgres, nats, redis }) {
  return { TEST_POSTGRES_URL: postgres.url, TEST_NATS_URL: nats.url, TEST_REDIS_URL: redis.url }
}
