import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { startGateway, workflow } from './gateway-fixture.ts'

const RUN = '/workflows/default/hello/run'

async function expectRefused(response: Response, quota: string) {
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await response.text()).toContain(`has reached its quota of ${quota}`)
}

test.each(['PRINCIPAL', 'NAMESPACE'])(
  'event streams of a %s: above the quota 503, and none is started',
  async (who) => {
    const { call, json, executions } = await startGateway(
      {},
      { [`SVC_QUOTAS__${who}_EVENT_STREAMS`]: '2' },
    )
    const first = await json('POST', `${RUN}/stream`, 1)
    const id = executions.last
    await call('GET', `/executions/${id}/events`)
    await expectRefused(await json('POST', `${RUN}/stream`, 1), '2 event streams')
    await expectRefused(await call('GET', `/executions/${id}/events`), '2 event streams')
    await expectRefused(await call('GET', `/executions/${id}?mode=stream`), '2 event streams')
    expect(executions.commands).toHaveLength(1)
    await first.body?.cancel()
    await expect.poll(async () => (await json('POST', `${RUN}/stream`, 1)).status).toBe(200)
  },
)

test('waiting synchronous runs: above the quota 503, asynchronous ones continue', async () => {
  const { json, executions } = await startGateway({}, { SVC_QUOTAS__PRINCIPAL_WAITING_RUNS: '1' })
  const waiting = json('POST', `${RUN}/sync`, 1)
  await expect.poll(() => executions.commands.length).toBe(1)
  const id = executions.last
  await expectRefused(await json('POST', `${RUN}/sync`, 1), '1 waiting runs')
  expect((await json('POST', `${RUN}/async`, 1)).status).toBe(200)
  executions.grow(id, 'COMPLETED', [{ type: 'WORKFLOW_COMPLETED', value_json: '1' }])
  expect((await waiting).status).toBe(200)
  expect((await json('POST', `${RUN}/sync?timeout=0.05`, 1)).status).toBe(200)
})

test('a synchronous run that fails: its place is free again', async () => {
  const { json, executions } = await startGateway({}, { SVC_QUOTAS__PRINCIPAL_WAITING_RUNS: '1' })
  for (let i = 0; i < 3; i++)
    expect((await json('POST', `${RUN}/sync?timeout=0.05`, i)).status).toBe(200)
  expect(executions.commands).toHaveLength(3)
})

test('uploads of an hour: above the quota 503, and nothing is registered', async () => {
  const stored: number[] = []
  // Tests share one Redis, in which the hour is counted.
  const namespace = `quota-${randomBytes(4).toString('hex')}`
  const { call } = await startGateway(
    {
      catalog: {
        analyze: async () =>
          ({ workflows: [{ ...workflow({ namespace }), affinity_json: '' }] }) as never,
        register: async () => {
          stored.push(1)
          return { workflows: [workflow()] }
        },
      },
    },
    { SVC_QUOTAS__NAMESPACE_UPLOADS_PER_HOUR: '2' },
  )
  const upload = async () => {
    const body = new FormData()
    const source = await readFile(new URL('../../../examples/hello_world.py', import.meta.url))
    body.set('file', new Blob([source]), 'hello_world.py')
    return call('POST', '/workflows', { body })
  }
  expect([(await upload()).status, (await upload()).status]).toEqual([200, 200])
  await expectRefused(await upload(), '2 uploads per hour')
  expect(stored).toHaveLength(2)
})

test('API keys of a principal: above the quota 503, and none is created', async () => {
  const key = { name: 'a', prefix: 'p', expires_at: undefined, created_at: new Date() }
  const { json } = await startGateway(
    { keys: { list: async () => ({ keys: [key, key] }) as never } },
    { SVC_QUOTAS__PRINCIPAL_KEYS: '2' },
  )
  const response = await json('POST', '/admin/principals/ci/keys', { name: 'c' })
  await expectRefused(response, '2 keys')
})
