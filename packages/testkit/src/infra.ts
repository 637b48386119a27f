import { containerObstacle } from './infra-engine.ts'
import type { Infra } from './infra-handle.ts'

let own: Infra | undefined

/**
 * Vitest's global setup. Sets TEST_POSTGRES_URL, TEST_NATS_URL and TEST_REDIS_URL unless they are set:
 * to containers if a Docker engine responds and has the images, otherwise to local processes.
 * TEST_SERVICES=docker or =local selects one of them.
 */
export async function setup(): Promise<void> {
  if (process.env.TEST_POSTGRES_URL) return // set by the caller, or by another project of this run
  const wanted = process.env.TEST_SERVICES ?? 'auto'
  const obstacle = wanted === 'local' ? 'TEST_SERVICES=local' : await containerObstacle()
  if (wanted === 'docker' && obstacle) throw new Error(`TEST_SERVICES=docker, but ${obstacle}`)
  if (obstacle) {
    console.info(`Tests use local PostgreSQL, NATS and Redis processes: ${obstacle}.`)
    own = await (await import('./infra-local.ts')).startLocal()
  } else {
    console.info('Tests use PostgreSQL, NATS and Redis in containers.')
    own = await (await import('./infra-containers.ts')).startContainers()
  }
  Object.assign(process.env, own.urls)
}

export async function teardown(): Promise<void> {
  await own?.stop()
  own = undefined
}
