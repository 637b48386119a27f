import { newId } from '@windlass/runtime/ids'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { storeUrl, testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { BulkProgress, type BulkRecord } from '../src/clients/bulk-progress.ts'
import { startGateway } from './gateway-fixture.ts'

const JSON_ONLY = { accept: 'application/json' }

/** A gateway whose filter matches one paused execution. */
async function setup() {
  let found: string[] = []
  const gateway = await startGateway({
    history: {
      search: async () => ({
        rows: found.map((execution_id) => ({
          ...{ execution_id, workflow_id: '0'.repeat(32), workflow_namespace: 'default' },
          ...{ workflow_name: 'hello', workflow_version: 1, state: 'PAUSED', worker_name: '' },
          ...{ created_by: '', attempts: 1, schedule_id: '', parent_id: '', tags: {}, revision: 3 },
          ...{ last_seq: 9, created_at: new Date(0), updated_at: new Date(0) },
          ...{ queued_at: undefined, started_at: undefined, finished_at: undefined },
        })),
        ...{ total: found.length, total_exact: true, next_cursor: '', cut: false },
      }),
    },
  })
  await gateway.json('POST', '/workflows/default/hello/run/async', 1)
  found = [gateway.executions.last]
  const act = (headers = {}) =>
    gateway.json(
      'POST',
      '/executions/bulk',
      { filter: { namespace: 'default' }, action: 'cancel', expect: 1 },
      headers,
    )
  return { ...gateway, act }
}

test('a client that reads JSON only: the result of the act, readable afterwards by its id', async () => {
  const { act, call } = await setup()
  const response = await act(JSON_ONLY)
  const result = (await response.json()) as BulkRecord
  expect([response.status, result]).toMatchObject([
    200,
    {
      action: 'cancel',
      state: 'ended',
      total: 1,
      done: 1,
      failed: 0,
      stopped: false,
      failures: [],
    },
  ])
  const shown = await call('GET', `/executions/bulk/${result.id}`)
  expect([shown.status, await shown.json()]).toEqual([200, result])
})

test('an act with an event stream: its frames have the id under which the progress is read', async () => {
  const { act, call } = await setup()
  const frames = await (await act()).text()
  const id = /"id":"([0-9a-f]{32})"/.exec(frames)?.[1]
  const shown = await call('GET', `/executions/bulk/${id}`)
  expect(await shown.json()).toMatchObject({ id, state: 'ended', done: 1 })
})

test('an id that no act has: 404', async () => {
  const { call } = await setup()
  for (const id of [newId(), 'x']) {
    const response = await call('GET', `/executions/bulk/${id}`)
    expect([id, response.status]).toEqual([id, 404])
  }
})

const RECORD: BulkRecord = {
  ...{ id: newId(), action: 'rerun', state: 'running', total: 100, done: 50, failed: 0 },
  ...{ stopped: false, failures: [] },
  ...{ started_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:10.000Z' },
}

async function openStore(at: string) {
  const redis = openRedis(storeUrl(testUrl('TEST_REDIS_URL'), 'gateway'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  return new BulkProgress(redis, () => Date.parse(at))
}

test('the act of another caller: not found by its id', async () => {
  const store = await openStore('2026-01-01T00:00:11Z')
  const owner = { subject: 'ann', issuer: 'windlass' }
  await store.save(owner, RECORD)
  expect(await store.read(owner, RECORD.id)).toEqual(RECORD)
  for (const other of [
    { ...owner, subject: 'bob' },
    { ...owner, issuer: 'https://idp' },
  ])
    expect(await store.read(other, RECORD.id)).toBeUndefined()
})

test('a running act without progress for a minute: interrupted', async () => {
  const owner = { subject: 'ann' }
  const record = { ...RECORD, id: newId() }
  const early = await openStore('2026-01-01T00:00:11Z')
  await early.save(owner, record)
  const before = await openStore('2026-01-01T00:01:09Z')
  expect(await before.read(owner, record.id)).toEqual(record)
  const late = await openStore('2026-01-01T00:01:11Z')
  expect(await late.read(owner, record.id)).toEqual({ ...record, state: 'interrupted' })
})
