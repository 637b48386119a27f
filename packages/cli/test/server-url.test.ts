import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lock } from '@windlass/runtime/process/lock-file'
import { publishServer } from '@windlass/runtime/process/server-file'
import { closedUrl } from '@windlass/testkit/api-fake'
import { expect, onTestFinished, test } from 'vitest'
import { findRunningServer } from '../src/project.ts'
import { cliFixture } from './cli-fixture.ts'

test('nothing configured and a system runs from this clone: it is called', async () => {
  const { api, windlass } = await cliFixture({ running: (url) => url })
  api.answers.set('GET /workflows', { body: '[]' })
  expect(await windlass('workflow', 'list', '--json')).toMatchObject({ status: 0, out: '[]\n' })
})

test('a configured server, or --server-url: takes precedence over the running system', async () => {
  const closed = await closedUrl()
  const { api, windlass } = await cliFixture({ running: () => closed })
  api.answers.set('GET /workflows', { body: '[]' })
  expect(await windlass('workflow', 'list', '--server-url', api.url)).toMatchObject({ status: 0 })

  const env = { SVC_WORKERS__SERVER_URL: api.url }
  const configured = await cliFixture({ running: () => closed, env })
  expect(await configured.windlass('workflow', 'list')).toMatchObject({ status: 0 })
  expect((await windlass('workflow', 'list')).err).toContain(`cannot connect to ${closed}`)
})

test('nothing configured and no system runs: the address of the settings is called', async () => {
  const { api, windlass } = await cliFixture()
  const { port } = new URL(api.url)
  const env = { SVC_SERVER__PORT: port, SVC_SERVER__HOST: '0.0.0.0' }
  const local = await cliFixture({ running: () => undefined, env })
  api.answers.set('GET /workflows', { body: '[]' })
  expect(await local.windlass('workflow', 'list')).toMatchObject({ status: 0 })
  expect(api.seen).toHaveLength(1)
  expect((await windlass('workflow', 'list')).status).toBe(0)
})

test('the data directory of a running system: has its URL while the system runs', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'windlass-cli-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  expect(await findRunningServer(dir)).toBeUndefined()
  const unlock = lock(dir)
  publishServer(dir, 'http://127.0.0.1:8123')
  expect(await findRunningServer(dir)).toBe('http://127.0.0.1:8123')
  unlock()
  expect(await findRunningServer(dir)).toBeUndefined()
})

test.each([
  [{}, 'http://127.0.0.1:8123'],
  [{ SVC_WORKERS__SERVER_URL: 'http://other.example' }, 'http://other.example'],
])('worker start with %j and a running system: the worker gets %s', async (env, expected) => {
  const dir = await mkdtemp(join(tmpdir(), 'windlass-cli-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const WINDLASS_PYTHON = join(dir, 'python')
  const script = `#!/bin/sh\necho "$SVC_WORKERS__SERVER_URL" > ${join(dir, 'url')}\n`
  await writeFile(WINDLASS_PYTHON, script, { mode: 0o755 })

  const running = () => 'http://127.0.0.1:8123'
  const { windlass } = await cliFixture({
    running,
    env: { WINDLASS_PYTHON, SVC_HOME: dir, ...env },
  })
  expect(await windlass('worker', 'start')).toMatchObject({ status: 0 })
  expect(await readFile(join(dir, 'url'), 'utf8')).toBe(`${expected}\n`)
})
