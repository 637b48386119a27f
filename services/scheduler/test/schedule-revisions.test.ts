import { expect, test } from 'vitest'
import { ALL, everySeconds, request, schedulerFixture } from './scheduler-fixture.ts'

const NEVER = { any: false, absent: false }

test('revision: changes with what a client changes, and not with a pause, a tick or in a list', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()
  const made = await client.create({ ...request(), description: 'a' })
  const { id: ref, revision } = made
  expect(revision).toMatch(/^[0-9a-f]{32}$/)
  expect((await client.pause({ ref })).revision).toBe(revision)
  expect((await client.resume({ ref })).revision).toBe(revision)
  const seen = new Set([revision])
  const changes = [
    { description: 'b' },
    { overlap: 'skip' },
    { input_json: '[1]' },
    { input_json: '[ 1]' },
    { schedule_config_json: everySeconds(60) },
    { run_as_service_account: 'robot' },
  ]
  for (const change of changes) {
    const changed = await client.update({ ref, ...change, may_name_accounts: true })
    seen.add(changed.revision)
    expect((await client.get({ ref })).revision).toBe(changed.revision)
  }
  expect(seen.size).toBe(1 + changes.length)
  expect((await client.update({ ref, description: 'b' })).revision).toBe([...seen].at(-1))
  const page = { limit: 10, offset: 0, workflow_namespace: '', workflow_name: '' }
  const { schedules } = await client.list({ ...page, active_only: false, visible: ALL })
  expect(schedules[0]?.revision).toBeUndefined()
})

test('update with a precondition: made for the present revision, refused for another one', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()
  const { id: ref, revision = '' } = await client.create({ ...request(), description: 'a' })
  const updateIf = (description: string, precondition: object) =>
    client.updateIf({
      update: { ref, description },
      precondition: { ...NEVER, revisions: [], ...precondition },
    })
  const first = await updateIf('b', { revisions: ['other', revision] })
  expect(first).toMatchObject({ description: 'b' })
  await expect(updateIf('c', { revisions: [revision] })).rejects.toMatchObject({
    kind: 'precondition_failed',
    details: { problems: [{ loc: ['header', 'If-Match'] }] },
  })
  expect(await client.get({ ref })).toEqual(first)
  expect(await updateIf('b', { revisions: [revision] })).toEqual(first)
  expect(await updateIf('d', { any: true })).toMatchObject({ description: 'd' })
  await expect(updateIf('e', {})).rejects.toMatchObject({ kind: 'precondition_failed' })
  await client.delete({ ref })
  await expect(updateIf('f', { any: true })).rejects.toMatchObject({ kind: 'not_found' })
})

test('ten updates for one revision at two replicas: one is made, the others are refused', async () => {
  const { replica } = await schedulerFixture()
  const [a, b] = [await replica(), await replica()]
  const { id: ref, revision = '' } = await a.create(request())
  const precondition = { ...NEVER, revisions: [revision] }
  const updates = Array.from({ length: 10 }, (_, i) =>
    (i % 2 ? a : b).updateIf({ update: { ref, description: `d${i}` }, precondition }),
  )
  const answers = await Promise.allSettled(updates)
  const made = answers.filter((answer) => answer.status === 'fulfilled')
  expect(made).toHaveLength(1)
  for (const answer of answers)
    if (answer.status === 'rejected')
      expect(answer.reason).toMatchObject({ kind: 'precondition_failed' })
  expect(await a.get({ ref })).toMatchObject({ description: made[0]?.value.description })
})
