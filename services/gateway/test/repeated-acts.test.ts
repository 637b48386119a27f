import { expect, test } from 'vitest'
import { framesOf, rowOf, setup } from './bulk-fixture.ts'

test('E2: an act is repeated with its key: the executions that it has started are left out', async () => {
  const { bulk, changes, find } = await setup(['FAILED', 'COMPLETED'])
  const act = { action: 'rerun', expect: 2 }
  await framesOf(await bulk(act, { 'idempotency-key': 'k' }))
  const first = changes()
  for (const { execution_id, body } of first)
    find({
      ...rowOf(execution_id, 'SCHEDULED'),
      origin_id: body?.$case === 'create' ? body.value.origin_id : undefined,
    })
  const frames = await framesOf(await bulk(act, { 'idempotency-key': 'k' }))
  expect(frames.at(-1)).toMatchObject(['end', { total: 2, done: 2 }])
  const ids = (commands: typeof first) => commands.map(({ execution_id }) => execution_id).sort()
  expect(ids(changes().slice(2))).toEqual(ids(first))
  // Another act starts them again, and each of those that the first one started.
  const others = await framesOf(
    await bulk({ ...act, expect: 4 }, { 'idempotency-key': 'another key' }),
  )
  expect(others.at(-1)).toMatchObject(['end', { total: 4, done: 4 }])
})

test('E8: a resume of all matches is repeated with its key: each execution is resumed once', async () => {
  const { bulk, changes } = await setup(['PAUSED', 'PAUSED'])
  const requests = async (headers = {}) => {
    const before = changes().length
    await framesOf(await bulk({ action: 'resume', expect: 2 }, headers))
    return changes()
      .slice(before)
      .map(({ body }) => body?.$case === 'resume' && body.value.request_id)
      .sort()
  }
  const first = await requests({ 'idempotency-key': 'k' })
  expect(new Set(first).size).toBe(2)
  expect(await requests({ 'idempotency-key': 'k' })).toEqual(first)
  for (const headers of [{ 'idempotency-key': 'another key' }, {}])
    expect((await requests(headers)).filter((id) => first.includes(id))).toEqual([])
})

test('reruns with a key of more than 222 characters: 422, and nothing changes', async () => {
  const { bulk, changes } = await setup(['FAILED'])
  const response = await bulk(
    { action: 'rerun', expect: 1 },
    { 'idempotency-key': 'k'.repeat(223) },
  )
  expect([response.status, await response.json()]).toMatchObject([
    422,
    { detail: [{ loc: ['header', 'Idempotency-Key'], msg: 'must have 1 to 222 characters' }] },
  ])
  expect(changes()).toEqual([])
})
