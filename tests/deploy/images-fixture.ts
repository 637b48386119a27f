import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { containerObstacle, images, missingImage } from '@windlass/testkit/infra-engine'

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
export const IMAGE = 'windlass:test'
export const WORKER_IMAGE = 'windlass-worker:test'
/** Compose 2.23.1 is the first that writes the content of `configs` to files. */
const LEAST_COMPOSE = [2, 23, 1]
const MAX_OUTPUT = 16_000_000
const PROBE_MS = 20_000

/** Images that the builds start from, by the name of their build argument. */
export const BASES: Record<'NODE_IMAGE' | 'PYTHON_IMAGE', string> = {
  NODE_IMAGE: process.env.NODE_IMAGE ?? defaultOf('Dockerfile', 'NODE_IMAGE'),
  PYTHON_IMAGE: process.env.PYTHON_IMAGE ?? defaultOf('worker.Dockerfile', 'PYTHON_IMAGE'),
}
export const BALANCER_IMAGE = process.env.TEST_BALANCER_IMAGE ?? 'haproxy:3.0'

/** Images of a system, as `WindlassContainer` takes them. */
export const SYSTEM_IMAGES = { ...images, windlass: IMAGE, worker: WORKER_IMAGE }

// The reaper is a further image that not every engine can fetch.
if (!process.env.RYUK_CONTAINER_IMAGE) process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true'
/** The reason why the images cannot be built and started; undefined if they can. */
export const imagesObstacle = await findObstacle()
/** The same for compose.yml. */
export const composeObstacle =
  imagesObstacle ?? (await missingImage([BALANCER_IMAGE])) ?? findComposeObstacle()
if (composeObstacle) {
  const which = imagesObstacle ? 'The images are neither built nor started' : 'Compose is not run'
  if (process.env.TEST_SERVICES === 'docker')
    throw new Error(`TEST_SERVICES=docker, but ${composeObstacle}`)
  console.warn(`${which}: ${composeObstacle}.`)
}

async function findObstacle(): Promise<string | undefined> {
  if (process.env.TEST_SERVICES === 'local') return 'TEST_SERVICES=local'
  const obstacle = await containerObstacle()
  if (obstacle) return obstacle
  if (process.env.TEST_IMAGES === 'built') return missingImage([IMAGE, WORKER_IMAGE])
  return (
    (await missingImage(Object.values(BASES))) ??
    (isAnswered('buildx', 'version') ? undefined : 'docker has no buildx, which the builds need')
  )
}

function findComposeObstacle(): string | undefined {
  const { stdout } = spawnSync('docker', ['compose', 'version', '--short'], { encoding: 'utf8' })
  const found = /^v?(\d+)\.(\d+)\.(\d+)/
    .exec(stdout ?? '')
    ?.slice(1)
    .map(Number)
  if (!found) return 'docker has no compose'
  const [major = 0, minor = 0, patch = 0] = found.map((part, i) => part - (LEAST_COMPOSE[i] ?? 0))
  if ((major || minor || patch) >= 0) return undefined
  return `docker compose is ${found.join('.')}, and ${LEAST_COMPOSE.join('.')} is needed`
}

function isAnswered(...args: string[]): boolean {
  return spawnSync('docker', args, { stdio: 'ignore', timeout: PROBE_MS }).status === 0
}

/** Runs docker; returns its standard output, and throws with its error output if it fails. */
export const docker = (...args: string[]): string =>
  execFileSync('docker', args, {
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()

interface Inspected {
  Size: number
  Config: {
    User: string
    Labels: Record<string, string>
    Healthcheck?: { Test: string[] }
    Entrypoint: string[]
  }
}
export const inspectImage = (image: string): Inspected =>
  JSON.parse(docker('image', 'inspect', image))[0]

/** Builds an image of `deploy/` with these arguments and the authority that the environment names. */
export function buildImage(dockerfile: string, tag: string, args: Record<string, string>): void {
  const ca = process.env.TEST_BUILD_CA
  execFileSync(
    'docker',
    [
      ...['build', '--quiet', '--file', `deploy/${dockerfile}`, '--tag', tag],
      ...(ca ? ['--secret', `id=ca,src=${ca}`] : []),
      ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
      '.',
    ],
    {
      cwd: PROJECT,
      env: { ...process.env, DOCKER_BUILDKIT: '1' },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
}

/** Builds both images, unless TEST_IMAGES=built says that they are there. Layers that are there are used again. */
export function buildImages(): void {
  if (imagesObstacle || process.env.TEST_IMAGES === 'built') return
  const { NODE_IMAGE, PYTHON_IMAGE } = BASES
  buildImage('Dockerfile', IMAGE, { NODE_IMAGE })
  buildImage('worker.Dockerfile', WORKER_IMAGE, { PYTHON_IMAGE })
}

function defaultOf(dockerfile: string, name: string): string {
  const text = readFileSync(new URL(`../../deploy/${dockerfile}`, import.meta.url), 'utf8')
  return new RegExp(`^ARG ${name}=(\\S+)$`, 'm').exec(text)?.[1] ?? ''
}
