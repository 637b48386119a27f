import { openDb } from '@windlass/runtime/postgres/db'
import { migrate } from '@windlass/runtime/postgres/migrate'
import { Sql, sql } from '@windlass/runtime/postgres/sql'
import { freshDatabase, testUrl } from '@windlass/testkit/database'
import { dumpAndRestore, dumpObstacle } from '@windlass/testkit/dumped-database'
import { startService } from '@windlass/testkit/service'
import { expect, onTestFinished, test, vi } from 'vitest'
import { prepareRestored } from '../src/engine/after-restore.ts'
import { start } from '../src/server.ts'
import { limits } from './execution-samples.ts'
import { cancel, clientsOf, event, get, run, worker } from './executions-fixture.ts'
import { claimed, park } from './parking-fixture.ts'

const MIGRATIONS = new URL('../migrations/', import.meta.url)
const WAIT = { timeout: 30_000, interval: 100 }

/** Starts the service; `stop` ends it and its client. */
async function serve(url: string) {
  const service = await startService(start, {
    SVC_POSTGRES__URL: url,
    SVC_NATS__URL: testUrl('TEST_NATS_URL'),
    SVC_SECURITY__EXECUTION_TOKEN_SECRET: 'an execution token secret of the tests',
  })
  const client = clientsOf([service.ports.grpc ?? 0])
  const stop = async () => {
    client.close()
    await service.stop()
  }
  onTestFinished(stop)
  return { client, stop }
}

/** Copies a database without connections, as it is now. Returns the URL of the copy. */
async function copyDatabase(url: string): Promise<string> {
  const copy = new URL(await freshDatabase('executions', MIGRATIONS))
  const [from, to] = [new URL(url).pathname.slice(1), copy.pathname.slice(1)]
  const server = openDb(testUrl('TEST_POSTGRES_URL'), 'public', { maxConnections: 1 })
  await server.run(new Sql([`drop database ${to}`], []))
  await server.run(new Sql([`create database ${to} template ${from}`], []))
  await server.close()
  return copy.href
}

/** Restores a dump, and runs the migrations as docs/backup.md says. */
async function restoreDump(url: string): Promise<string> {
  const restored = await dumpAndRestore(url)
  await migrate(restored, 'executions', MIGRATIONS)
  return restored
}

const BACKUPS = [
  { how: 'a copy', backUp: copyDatabase, obstacle: async () => undefined },
  { how: 'the dump of docs/backup.md', backUp: restoreDump, obstacle: dumpObstacle },
]

const open = (url: string) => {
  const db = openDb(url, 'executions', { maxConnections: 1 })
  onTestFinished(() => db.close())
  return db
}

test.for(BACKUPS)(
  'restore from $how while workers hold claims: claims are stale, work is queued again',
  {
    timeout: 120_000,
  },
  async ({ backUp, obstacle }, { skip }) => {
    const reason = await obstacle()
    if (reason) skip(reason)
    const url = await freshDatabase('executions', MIGRATIONS)
    const before = await serve(url)
    const { w, ids } = await claimed(before.client, 3)
    const [working = '', waiting = '', cancelling = ''] = ids
    const step = event('TASK_COMPLETED', { value_json: '"kept"' })
    await w.report(working, 'RUNNING', { generation: 1, events: [step] })
    await park(before.client, w, waiting, { generation: 1, wake_on: [working] })
    await cancel(before.client, cancelling)
    await before.stop()
    const copy = await backUp(url)

    // The lost time: the worker continues, and another execution is started.
    const lost = await serve(url)
    const later = worker(lost.client, w.worker_name)
    await later.report(working, 'RUNNING', { generation: 1, events: [event('TASK_COMPLETED')] })
    const queuedLater = await run(lost.client)
    await lost.stop()

    const db = open(copy)
    // As in a dump of a server that has run for longer.
    for (const table of ['events', 'relay_cursor'])
      await db.run(
        new Sql([`update ${table} set xid = ((xid::text)::bigint + 1000000000)::text::xid8`], []),
      )
    const prepared = await prepareRestored(db, limits)
    expect(prepared).toMatchObject({ unfinished: 3, isRenumbered: true })
    expect([...prepared.requeued].sort()).toEqual([working, cancelling].sort())

    const { client } = await serve(copy)
    const stale = worker(client, w.worker_name)
    for (const generation of [1, 2, undefined])
      await expect(
        stale.report(working, 'COMPLETED', { events: [], ...(generation && { generation }) }),
      ).rejects.toMatchObject({ kind: 'conflict' })
    await expect(get(client, queuedLater.execution_id)).rejects.toThrow('no execution')
    expect((await get(client, cancelling)).state).toBe('CANCELLED')

    const next = worker(client)
    const leased = (await next.lease()).leases
    expect(leased.map(({ execution }) => execution?.execution_id)).toEqual([working])
    const { claim_generation, log } = await next.claim(working)
    expect(claim_generation).toBeGreaterThan(1_000_000)
    expect(log.filter(({ type }) => type === 'TASK_COMPLETED').map((e) => e.value_json)).toEqual([
      '"kept"',
    ])
    await next.report(working, 'COMPLETED', { events: [event('WORKFLOW_COMPLETED')] })
    // It is woken by the end of the other, although transaction ids began again.
    await vi.waitFor(
      async () => expect((await next.lease()).leases[0]?.execution?.execution_id).toBe(waiting),
      WAIT,
    )
    expect(
      await db.rows(sql`select from relay_cursor where xid::text::bigint > 1000000000`),
    ).toEqual([])
  },
)

test('the service runs: refused, and nothing is changed', async () => {
  const url = await freshDatabase('executions', MIGRATIONS)
  const { client } = await serve(url)
  const { ids } = await claimed(client)
  await expect(prepareRestored(open(url), limits)).rejects.toThrow('stop all services first')
  expect(await get(client, ids[0] ?? '')).toMatchObject({ state: 'CLAIMED', claim_generation: 1 })
})

test('repeated: executions that are queued already stay queued', async () => {
  const url = await freshDatabase('executions', MIGRATIONS)
  const { client, stop } = await serve(url)
  await claimed(client, 2)
  await stop()
  const db = open(url)
  // The connections of the service may still be closing.
  const first = await vi.waitFor(() => prepareRestored(db, limits), WAIT)
  expect(first.requeued).toHaveLength(2)
  expect(await prepareRestored(db, limits)).toEqual({
    unfinished: 2,
    requeued: [],
    isRenumbered: false,
  })
})
