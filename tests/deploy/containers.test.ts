import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { WindlassContainer } from '@windlass/testcontainers/windlass-container'
import { temporaryFolder } from '@windlass/testkit/folder'
import { containerObstacle } from '@windlass/testkit/infra-engine'
import { beforeAll, expect, onTestFinished, test } from 'vitest'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
const IMAGE = 'windlass:test'
const WORKER_IMAGE = 'windlass-worker:test'
const MEGABYTE = 1_000_000
const MAX_ADDED_BYTES = 120 * MEGABYTE
const MAX_READY_MS = 30_000

// The reaper is a further image that not every engine can fetch.
if (!process.env.RYUK_CONTAINER_IMAGE) process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true'
const obstacle = await containerObstacle()
if (obstacle) console.warn(`The images are neither built nor started: ${obstacle}.`)
const running = test.skipIf(obstacle)

const docker = (...args: string[]) =>
  execFileSync('docker', args, { encoding: 'utf8', maxBuffer: 16 * MEGABYTE }).trim()

/** Builds an image with the authority and the base that the environment names. */
function buildImage(dockerfile: string, tag: string, base: string): void {
  const ca = process.env.TEST_BUILD_CA
  execFileSync(
    'docker',
    [
      ...['build', '--quiet', '--file', `deploy/${dockerfile}`, '--tag', tag],
      ...(ca ? ['--secret', `id=ca,src=${ca}`] : []),
      ...(process.env[base] ? ['--build-arg', `${base}=${process.env[base]}`] : []),
      '.',
    ],
    {
      cwd: PROJECT,
      env: { ...process.env, DOCKER_BUILDKIT: '1' },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
}

beforeAll(() => {
  if (obstacle || process.env.TEST_IMAGES === 'built') return
  buildImage('Dockerfile', IMAGE, 'NODE_IMAGE')
  buildImage('worker.Dockerfile', WORKER_IMAGE, 'PYTHON_IMAGE')
})

const inspect = (image: string) => JSON.parse(docker('image', 'inspect', image))[0]

running.each([IMAGE, WORKER_IMAGE])(
  '%s: adds at most 120 MB to its base, without rights',
  (image) => {
    const { Size, Config } = inspect(image)
    const base = inspect(Config.Labels['org.opencontainers.image.base.name'])
    expect(Size - base.Size).toBeLessThan(MAX_ADDED_BYTES)
    expect(Config.User).toMatch(/^1000[12]:1000[12]$/)
    expect(Config.Labels).toMatchObject({ 'org.opencontainers.image.licenses': 'Apache-2.0' })
  },
)

running.each([
  [IMAGE, 'node', ['-p', 'require("/app/sbom.cdx.json").components.length']],
  [
    WORKER_IMAGE,
    'python',
    ['-c', 'import json; print(len(json.load(open("/opt/windlass/sbom.cdx.json"))["components"]))'],
  ],
])('%s: contains its bill of materials', (image, entry, args) => {
  const count = docker('run', '--rm', '--read-only', '--entrypoint', entry, image, ...args)
  expect(Number(count)).toBeGreaterThan(5)
})

running('a service without rights on a read-only file system: is ready', async () => {
  const limits = ['--read-only', '--cap-drop=ALL', '--env', 'SVC_SECURITY__AUTH__ENABLED=true']
  const id = docker('run', '--detach', ...limits, IMAGE, 'mcp')
  onTestFinished(() => void docker('rm', '--force', '--volumes', id))
  const ask = `fetch('http://127.0.0.1:9100/ready').then(({ status }) => console.log(status))`
  await expect.poll(() => execAsk(id, ask), { timeout: MAX_READY_MS }).toBe('200')
})

function execAsk(id: string, script: string): string {
  try {
    return execFileSync('docker', ['exec', id, 'node', '-e', script], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'not yet'
  }
}

running('a system of testcontainers with a worker: runs a workflow of its folder', async () => {
  const flows = temporaryFolder('flows')
  cpSync(path.join(PROJECT, 'examples/hello_world.py'), path.join(flows, 'hello_world.py'))
  const images = { windlass: IMAGE, worker: WORKER_IMAGE }
  const windlass = await new WindlassContainer(images).withWorker(flows).start()
  onTestFinished(() => windlass.stop())
  const execution = JSON.parse(await windlass.run('hello_world', '"World"'))
  expect(execution).toMatchObject({ state: 'COMPLETED', output: 'Hello, World' })
  expect((await fetch(`${windlass.url}/workers`)).status).toBe(401)
})
