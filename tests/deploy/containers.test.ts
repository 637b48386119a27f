import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { WindlassContainer } from '@windlass/testcontainers/windlass-container'
import { temporaryFolder } from '@windlass/testkit/folder'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  BASES,
  buildImage,
  buildImages,
  docker,
  IMAGE,
  imagesObstacle,
  inspectImage,
  PROJECT,
  SYSTEM_IMAGES,
  WORKER_IMAGE,
} from './images-fixture.ts'

const MAX_ADDED_BYTES = 120_000_000
/** Limits for hanging only: docs/operations.md has the times. */
const MAX_READY_MS = 60_000
const MAX_HEALTHY_MS = 120_000
const PIP_MS = 300_000
const LIMITS = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges']

const running = test.skipIf(imagesObstacle)
/** With TEST_IMAGES=built nothing is built, so also no variant. */
const building = test.skipIf(imagesObstacle ?? process.env.TEST_IMAGES === 'built')

beforeAll(buildImages)

running.each([
  [IMAGE, '10001:10001'],
  [WORKER_IMAGE, '10002:10002'],
])('%s: adds at most 120 MB to its base, names it, and is not root', (image, user) => {
  const { Size, Config } = inspectImage(image)
  const base = Config.Labels['org.opencontainers.image.base.name'] as string
  const added = Size - inspectImage(base).Size
  console.info(`${image} adds ${Math.round(added / 1e6)} MB to ${base}.`)
  expect(added).toBeLessThan(MAX_ADDED_BYTES)
  expect(Config.User).toBe(user)
  expect(Config.Labels).toMatchObject({
    'org.opencontainers.image.title': expect.stringContaining('Windlass'),
    'org.opencontainers.image.description': expect.any(String),
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
    'org.opencontainers.image.revision': expect.any(String),
  })
  // Neither needs a shell.
  expect(Config.Healthcheck?.Test[0]).toBe('CMD')
  expect(Config.Entrypoint[0]).toMatch(/node$|python$/)
})

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

/** Starts a container without rights on a read-only file system, which is removed with the test. */
function start(image: string, options: string[], ...command: string[]): string {
  const id = docker('run', '--detach', ...LIMITS, ...options, image, ...command)
  onTestFinished(() => void docker('rm', '--force', '--volumes', id))
  return id
}

async function statusOf(url: string): Promise<number> {
  return fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    ({ status }) => status,
    () => 0,
  )
}

const secret = () => randomBytes(32).toString('hex')

const AUTHENTICATED = ['--env', 'SVC_SECURITY__AUTH__ENABLED=true']
const PUBLISHED = ['--publish', '127.0.0.1::9100']
const healthOf = (id: string) => docker('inspect', '--format', '{{.State.Health.Status}}', id)

running('a service without rights on a read-only file system: is ready', async () => {
  const id = start(IMAGE, [...AUTHENTICATED, ...PUBLISHED], 'mcp')
  const began = Date.parse(docker('inspect', '--format', '{{.State.StartedAt}}', id))
  const url = `http://${docker('port', id, '9100')}/ready`
  await expect.poll(() => statusOf(url), { timeout: MAX_READY_MS, interval: 20 }).toBe(200)
  console.info(`A service is ready ${Date.now() - began} ms after the start of its container.`)
  await expect.poll(() => healthOf(id), { timeout: MAX_HEALTHY_MS }).toBe('healthy')
})

running('a service that is not ready: its health check fails', async () => {
  // No other service answers it.
  const keys = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler'].map(
    (service) => `gateway:${service}:${secret()}`,
  )
  const settings = [`SVC_RPC__KEYS=${keys}`, `SVC_SECURITY__EXECUTION_TOKEN_SECRET=${secret()}`]
  const env = settings.flatMap((setting) => ['--env', setting])
  const id = start(IMAGE, [...AUTHENTICATED, ...PUBLISHED, ...env], 'gateway')
  const url = `http://${docker('port', id, '9100')}/ready`
  await expect.poll(() => statusOf(url), { timeout: MAX_READY_MS }).toBe(503)
  const check = inspectImage(IMAGE).Config.Healthcheck?.Test.slice(1) ?? []
  const { status, stderr } = spawnSync('docker', ['exec', id, ...check], { encoding: 'utf8' })
  expect(status).toBe(1)
  expect(JSON.parse(stderr)).toMatchObject({ reason: expect.any(String) })
})

running.each([
  ['identity', 'SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY'],
  ['gateway', 'SVC_SECURITY__EXECUTION_TOKEN_SECRET'],
])('%s without secrets: ends with the name of the first that is missing', (service, name) => {
  const args = ['run', '--rm', ...LIMITS, ...AUTHENTICATED, IMAGE, service]
  const { status, stdout } = spawnSync('docker', args, { encoding: 'utf8' })
  expect(status).toBeGreaterThan(0)
  expect(stdout).toContain(name)
})

building('bases without a shell: services and workers start', async () => {
  const bare = (base: string) => {
    const folder = temporaryFolder('bare')
    const remove = 'RUN rm -f /bin/sh /bin/bash /bin/dash /usr/bin/sh /usr/bin/bash /usr/bin/dash'
    writeFileSync(path.join(folder, 'Dockerfile'), `FROM ${base}\n${remove}\n`)
    const tag = `windlass-bare-${base.replaceAll(/\W/g, '-')}:test`
    docker('build', '--quiet', '--tag', tag, folder)
    return tag
  }
  const { NODE_IMAGE, PYTHON_IMAGE } = BASES
  const tags = { services: `${IMAGE}-bare`, worker: `${WORKER_IMAGE}-bare` }
  onTestFinished(() => void docker('rmi', '--force', ...Object.values(tags)))
  buildImage('Dockerfile', tags.services, { NODE_IMAGE: bare(NODE_IMAGE), BUILD_IMAGE: NODE_IMAGE })
  buildImage('worker.Dockerfile', tags.worker, {
    PYTHON_IMAGE: bare(PYTHON_IMAGE),
    BUILD_IMAGE: PYTHON_IMAGE,
  })
  const id = start(tags.services, AUTHENTICATED, 'mcp')
  await expect.poll(() => healthOf(id), { timeout: MAX_HEALTHY_MS }).toBe('healthy')
  expect(spawnSync('docker', ['exec', id, 'sh', '-c', 'true']).status).not.toBe(0)
  expect(docker('run', '--rm', ...LIMITS, tags.worker, '--help')).toContain('usage')
})

/** A folder with the workflow `hello_world`. */
function flows(): string {
  const folder = temporaryFolder('flows')
  cpSync(path.join(PROJECT, 'examples/hello_world.py'), path.join(folder, 'hello_world.py'))
  return folder
}

running('a system of testcontainers with a worker: runs a workflow of its folder', async () => {
  const windlass = await new WindlassContainer(SYSTEM_IMAGES).withWorker(flows()).start()
  onTestFinished(() => windlass.stop())
  const execution = JSON.parse(await windlass.run('hello_world', '"World"'))
  expect(execution).toMatchObject({ state: 'COMPLETED', output: 'Hello, World' })
  expect((await fetch(`${windlass.url}/workers`)).status).toBe(401)
})

running('a system of testcontainers that cannot start: leaves nothing', async () => {
  const images = { ...SYSTEM_IMAGES, windlass: 'registry.invalid/windlass:test' }
  const before = containers()
  await expect(new WindlassContainer(images).withWorker(flows()).start()).rejects.toThrow()
  expect(containers()).toEqual(before)
})

running(
  'a worker that ends at once: the error comes with its lines and without a wait',
  async () => {
    // The image of the services needs the name of one, and says so.
    const images = { ...SYSTEM_IMAGES, worker: IMAGE }
    const before = containers()
    const started = new WindlassContainer(images).withWorker(flows()).start()
    await expect(started).rejects.toThrow(/ended before it was online:\n.*usage: one of gateway/)
    expect(containers()).toEqual(before)
  },
)

/** Names of the containers of tests, without the one that removes those of killed tests. */
const containers = () =>
  docker('ps', '--all', '--format={{.Names}}', '--filter', 'label=org.testcontainers=true')
    .split('\n')
    .filter((name) => name !== '' && !name.startsWith('testcontainers-ryuk'))
    .sort()

running('the Python package of systems in containers: its test passes', ({ skip }) => {
  const folder = temporaryFolder('python')
  const [site, cache] = [path.join(folder, 'site'), path.join(folder, 'cache')]
  mkdirSync(cache)
  const python = process.env.TEST_PYTHON ?? 'python3'
  const sdk = path.join(PROJECT, 'sdk/python')
  const run = (args: string[], env: NodeJS.ProcessEnv = {}) =>
    spawnSync(python, args, { cwd: sdk, encoding: 'utf8', env: { ...process.env, ...env } })
  if (run(['-c', 'import testcontainers']).status !== 0) {
    const install = ['-m', 'pip', 'install', '--quiet', '--target', site, 'testcontainers>=4.14,<5']
    const { status, stderr } = spawnSync(python, install, { encoding: 'utf8', timeout: PIP_MS })
    if (status !== 0) skip(`testcontainers for Python cannot be installed: ${stderr.trim()}`)
  }
  const folders = ['-o', `cache_dir=${cache}`, '--basetemp', path.join(cache, 'tests')]
  const pytest = ['-m', 'pytest', '-q', '-rs', ...folders, 'tests/test_containers.py']
  const { stdout, status } = run(pytest, {
    PYTHONPATH: site,
    TEST_WINDLASS_IMAGES: JSON.stringify(SYSTEM_IMAGES),
  })
  expect(status, stdout).toBe(0)
  expect(stdout).not.toContain('SKIPPED')
})
