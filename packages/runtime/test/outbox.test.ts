import { randomBytes } from 'node:crypto'
import { freshDatabase, testUrl } from '@windlass/testkit/database'
import { hasNats, startPrivateNats } from '@windlass/testkit/private-nats'
import { recordSpans } from '@windlass/testkit/recorded-spans'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openBus } from '../src/nats/bus.ts'
import { openDb } from '../src/postgres/db.ts'
import { emit, relayOutbox } from '../src/postgres/outbox.ts'
import { sql } from '../src/postgres/sql.ts'

const MIGRATIONS = new URL('../../../services/catalog/migrations/', import.meta.url)

test.skipIf(!hasNats)(
  'NATS unavailable: committed events stay stored, block no transaction, and are published later',
  async () => {
    const nats = await startPrivateNats()
    const bus = await openBus(nats.url, pino({ level: 'silent' }))
    onTestFinished(() => bus.close())
    const db = openDb(await freshDatabase('catalog', MIGRATIONS), 'catalog')
    onTestFinished(() => db.close())
    const kept = async () => (await db.rows(sql`select 1 from outbox`)).length
    const heard: string[] = []
    const stop = bus.consumeDurable({ durable: 'heard', subject: 'catalog.>' }, async ({ key }) => {
      heard.push(key)
    })
    onTestFinished(() => stop())

    await nats.kill()
    await expect.poll(() => bus.isUp).toBe(false)
    const value = { namespace: 'default', name: 'one', version: 1 }
    await db.tx((tx) =>
      emit(tx, { source: 'catalog', key: 'one' }, { $case: 'workflow_deleted', value }),
    )
    await db.tx(async (tx) => {
      // A relay that waited for its lock, or held it while it waited, would not come past this.
      await tx.run(sql`lock table outbox in access exclusive mode`)
      expect(await relayOutbox(db, bus)).toBe(false)
    })
    expect(await kept()).toBe(1)

    await nats.start()
    await expect.poll(() => relayOutbox(db, bus).then(kept, () => 1)).toBe(0)
    await expect.poll(() => heard).toEqual(['one'])
  },
)

test('an event of a traced change: handled in the trace of the change, others in none', async () => {
  const prefix = `test-${randomBytes(4).toString('hex')}`
  const bus = await openBus(testUrl('TEST_NATS_URL'), pino({ level: 'silent' }), prefix)
  onTestFinished(() => bus.close())
  const db = openDb(await freshDatabase('catalog', MIGRATIONS), 'catalog')
  onTestFinished(() => db.close())
  const spans = recordSpans()
  const heard: string[] = []
  const stop = bus.consumeDurable({ durable: 'heard', subject: 'catalog.>' }, async ({ key }) => {
    heard.push(key)
  })
  onTestFinished(() => stop())

  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const body = {
    $case: 'workflow_deleted' as const,
    value: { namespace: 'default', name: 'one', version: 1 },
  }
  await db.tx(async (tx) => {
    await emit(tx, { source: 'catalog', key: 'untraced' }, body)
    await emit(tx, { source: 'catalog', key: 'traced', traceparent }, body)
  })
  await expect.poll(() => relayOutbox(db, bus)).toBe(false)
  await expect.poll(() => heard).toEqual(['untraced', 'traced'])
  await expect.poll(() => spans().map(({ name }) => name)).toEqual(['process workflow_deleted'])
  expect(spans()[0]?.spanContext().traceId).toBe('a'.repeat(32))
  expect(spans()[0]?.parentSpanContext?.spanId).toBe('b'.repeat(16))
})
