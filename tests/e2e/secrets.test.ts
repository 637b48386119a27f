import { dumpDatabase } from '@windlass/testkit/database'
import { expect, test, vi } from 'vitest'
import { client } from './api.ts'
import { sharedSystem } from './execution-fixture.ts'

const ENV = { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'a key for this test alone' }
const shared = sharedSystem({ singleProcess: true, env: ENV, workers: 1 })
const CANARY = 'canary-7c2e1a'

const SOURCE = `
import hashlib

from windlass import ExecutionContext, task, workflow


@task.with_options(secret_requests=["db password", "port"], config_requests=["limit"])
async def connect(secrets, config):
    digest = hashlib.sha256(secrets["db password"].encode()).hexdigest()
    return [digest, secrets["port"], config["limit"]]


@workflow
async def uses_secrets(context: ExecutionContext):
    return await connect()
`

/** Declares no secret and requests one like a task that does. */
const SNEAKY = `
from windlass import ExecutionContext, task, workflow

options = {"secret_requests": ["db password"]}


async def peek(secrets):
    return secrets["db password"]


@workflow
async def sneaks(context: ExecutionContext):
    return await task.with_options(**options)(peek)()
`

test('declared secrets: the task gets them, and they are stored and logged nowhere', async () => {
  const system = shared()
  const api = client(system.url)
  await api.json('POST', '/admin/secrets', { name: 'db password', value: CANARY })
  await api.json('POST', '/admin/secrets', { name: 'port', value: 5432 })
  await api.json('POST', '/admin/configs', { name: 'limit', value: { rows: 10 } })
  await api.upload(SOURCE)

  const done = await api.run('uses_secrets', 'sync')
  expect(done).toMatchObject({
    state: 'COMPLETED',
    output: [expect.stringMatching(/^[0-9a-f]{64}$/), 5432, { rows: 10 }],
  })
  expect(await api.json('POST', '/admin/secrets/batch', ['db password'])).toEqual({
    'db password': CANARY,
  })

  const services = ['gateway', 'identity', 'executions', 'dispatcher', 'catalog'] as const
  const written = [
    JSON.stringify(await api.status(done.execution_id)),
    await dumpDatabase(system.database),
    ...services.flatMap((service) => system.of(service).map(({ output }) => output)),
  ].join('\n')
  expect(written).toContain(done.execution_id)
  for (const form of ['utf8', 'hex', 'base64'] as const)
    expect(written).not.toContain(Buffer.from(CANARY).toString(form).replaceAll('=', ''))
})

test('config that a task reads: its use is shown for the config and for the workflow', async () => {
  const api = client(shared().url)
  await api.json('POST', '/admin/secrets', { name: 'db password', value: CANARY })
  await api.json('POST', '/admin/secrets', { name: 'port', value: 5432 })
  await api.json('POST', '/admin/configs', { name: 'limit', value: 1 })
  await api.upload(SOURCE.replaceAll('uses_secrets', 'reads_limit'))
  const { execution_id, state, output } = await api.run('reads_limit', 'sync')
  expect(state, JSON.stringify(output)).toBe('COMPLETED')
  const use = { version: expect.any(Number), last_execution_id: execution_id }
  await vi.waitFor(
    async () => {
      const { workflows } = await api.json('GET', '/admin/configs/limit/uses')
      expect(workflows).toContainEqual(expect.objectContaining({ name: 'reads_limit', ...use }))
    },
    { timeout: 10_000, interval: 200 },
  )
  const { configs } = await api.json('GET', '/workflows/default/reads_limit/configs')
  expect(configs).toEqual([expect.objectContaining({ name: 'limit', ...use })])
})

test('undeclared or missing secret: the task fails', async () => {
  const api = client(shared().url)
  await api.upload(SNEAKY)
  await api.upload(SOURCE)
  await api.json('POST', '/admin/secrets', { name: 'db password', value: CANARY })
  await api.call('DELETE', '/admin/secrets/port')

  const refused = await api.run('sneaks', 'sync')
  expect(refused.state, JSON.stringify(refused)).toBe('FAILED')
  expect(refused.output).toMatchObject({
    message: "Secrets not declared by workflow: ['db password']",
  })
  const missing = await api.run('uses_secrets', 'sync')
  expect(missing.state).toBe('FAILED')
  expect(missing.output).toMatchObject({
    message: "The following secrets were not found: ['port']",
  })
})
