import { randomBytes } from 'node:crypto'
import type { Event } from '@windlass/proto/windlass/events/v1/events'
import { openBus } from '@windlass/runtime/nats/bus'
import { sql } from '@windlass/runtime/postgres/sql'
import { createLog } from '@windlass/runtime/process/log'
import { testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { setup, sourceOf, uploadOf } from './catalog-fixture.ts'

/** Collects the events of a namespace through a durable JetStream consumer. */
async function collectEvents(namespace: string): Promise<Event[]> {
  const bus = await openBus(testUrl('TEST_NATS_URL'), createLog('test', 'silent'))
  onTestFinished(() => bus.close())
  const events: Event[] = []
  const durable = `test-${randomBytes(6).toString('hex')}`
  bus.consumeDurable({ durable, subject: 'catalog.>' }, async (event) => {
    if (event.key.startsWith(`${namespace}/`)) events.push(event)
  })
  return events
}

test('uploads and deletions: published on JetStream in order', async () => {
  const { client, db, namespace } = await setup()
  const events = await collectEvents(namespace)
  const { workflows } = await client.register(uploadOf(sourceOf(namespace, 'a', 'b')))
  await client.register(uploadOf(sourceOf(namespace, 'a')))
  await client.delete({ namespace, name: 'a', version: 2 })
  await client.delete({ namespace, name: 'a', version: 1 })
  const ofA = () => events.filter(({ key }) => key === `${namespace}/a`).map(({ body }) => body)
  const a = { namespace, name: 'a' }
  const id = workflows.find(({ name }) => name === 'a')?.id
  await expect.poll(ofA).toEqual([
    { $case: 'workflow_changed', value: { ...a, version: 1, workflow_id: id } },
    { $case: 'workflow_changed', value: { ...a, version: 2, workflow_id: expect.any(String) } },
    { $case: 'workflow_deleted', value: { ...a, version: 2 } },
    // Version 0: no version is left.
    { $case: 'workflow_deleted', value: { ...a, version: 0 } },
  ])
  expect(events.map(({ source }) => source)).toEqual(Array(5).fill('catalog'))
  await expect.poll(() => db.rows(sql`select 1 from outbox`)).toEqual([])
})
