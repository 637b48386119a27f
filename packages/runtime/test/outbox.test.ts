import { freshDatabase } from '@windlass/testkit/database'
import { hasNats, startPrivateNats } from '@windlass/testkit/private-nats'
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
    await db.tx((tx) => emit(tx, 'catalog', 'one', { $case: 'workflow_deleted', value }))
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
