import http from 'node:http'

const ANSWER_MS = 2_000

export interface Images {
  postgres: string
  nats: string
  redis: string
}

export const images: Images = {
  postgres: process.env.TEST_POSTGRES_IMAGE ?? 'postgres:17',
  nats: process.env.TEST_NATS_IMAGE ?? 'nats:2',
  redis: process.env.TEST_REDIS_IMAGE ?? 'redis:8',
}

/**
 * Returns the reason why containers cannot be used, or undefined if they can. Asks the engine itself:
 * testcontainers silently falls back to other sockets and would fail only at its first pull.
 */
export async function containerObstacle(): Promise<string | undefined> {
  if ((await ask('/_ping')) !== 200) return 'no Docker engine responds'
  return missingImage(Object.values(images))
}

/** Returns that an image is missing and may not be fetched; undefined if none is. */
export async function missingImage(names: readonly string[]): Promise<string | undefined> {
  if (process.env.TEST_ALLOW_PULL === '1') return undefined
  for (const image of names) {
    if ((await ask(`/images/${image}/json`)) !== 200) {
      return `the engine has no image ${image} (TEST_ALLOW_PULL=1 lets it be fetched)`
    }
  }
  return undefined
}

/** Returns the status of the engine's response; 0 without a response within two seconds. */
function ask(path: string): Promise<number> {
  return new Promise((resolve) => {
    const request = http.get({ ...address(), path, timeout: ANSWER_MS }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(0))
  })
}

function address(): { socketPath: string } | { host: string; port: string } {
  const host = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'
  if (host.startsWith('unix://')) return { socketPath: host.slice('unix://'.length) }
  const { hostname, port } = new URL(host)
  return { host: hostname, port }
}
