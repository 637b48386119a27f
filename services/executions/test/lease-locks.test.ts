import { newId } from '@windlass/runtime/ids'
import { type Db, openDb, type Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { freshDatabase } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import type { Limits } from '../src/domain/execution.ts'
import { newRow } from '../src/engine/decision-input.ts'
import { decideGroup } from '../src/engine/optimistic.ts'
import type { NewExecution } from '../src/store/executions.ts'
import {
  type ConditionalWrite,
  insertWithLeases,
  readWithEvents,
  writeIfUnchanged,
} from '../src/store/optimistic-write.ts'
import { lockWorkers, saveRequirement } from '../src/store/ready.ts'
import { REQUIREMENT_ID } from './seed-rows.ts'

const LIMITS: Limits = { claimMs: 60_000, cancelMs: 60_000, maxAttempts: 3 }
const CAPACITY = 1
const UNLIMITED = 0

test('a create that waits for the lock of a worker: has locked no row, also none without a lease', async () => {
  const db = await database()
  const [plain, leased] = [newExecution(), newExecution()].sort(byId) as [Row, Row]
  const { writing } = await whileLocked(db, async () => {
    const writing = insertWithLeases(db, [plain, leased], [leaseOf(leased)])
    await untilWaiting(db)
    const { created } = await insertWithLeases(db, [plain], [])
    expect([...created]).toEqual([plain.execution_id])
    return { writing }
  })
  const { created, written } = await writing
  expect([...created]).toEqual([leased.execution_id])
  expect([...written]).toEqual([leased.execution_id])
})

// Without a limit nothing but the condition makes the statement wait: the load is not compared.
test.each([
  ['one queued row', 1, CAPACITY],
  ['queued rows', 2, CAPACITY],
  ['one queued row by a worker without a limit', 1, UNLIMITED],
  ['queued rows by a worker without a limit', 2, UNLIMITED],
])(
  'a lease of %s that waits for the lock of the worker: has locked no row',
  async (_, count, capacity) => {
    const db = await database()
    const rows = Array.from({ length: count }, newExecution)
    await insertWithLeases(db, rows, [])
    const leases = await leasesOf(db, rows, capacity)
    const { writing } = await whileLocked(db, async () => {
      const writing = writeIfUnchanged(db, leases)
      await untilWaiting(db)
      await db.rows(sql`select execution_id from executions for update nowait`)
      return { writing }
    })
    expect((await writing).size).toBe(capacity === UNLIMITED ? count : CAPACITY)
  },
)

test.each(['created', 'queued'] as const)(
  'a slot taken while the lease of a %s row waits for the lock: no lease',
  async (kind) => {
    const db = await database()
    const [row, taking] = [newExecution(), newExecution()]
    await insertWithLeases(db, kind === 'queued' ? [row, taking] : [taking], [])
    const leases = kind === 'queued' ? await leasesOf(db, [row]) : [leaseOf(row)]
    const { writing } = await whileLocked(db, async (tx) => {
      const writing =
        kind === 'queued'
          ? writeIfUnchanged(db, leases)
          : insertWithLeases(db, [row], leases).then(({ written }) => written)
      await untilWaiting(db)
      await tx.run(sql`
        update executions set held_by = 'w1', held_session = 's', queued_at = null,
               deadline_at = clock_timestamp() + interval '1 minute'
         where execution_id = ${taking.execution_id}`)
      return { writing }
    })
    expect((await writing).size).toBe(0)
    const held = await db.rows(sql`select execution_id from executions where held_by = 'w1'`)
    expect(held).toEqual([{ execution_id: taking.execution_id }])
  },
)

type Row = NewExecution

async function database(): Promise<Db> {
  const url = await freshDatabase('executions', new URL('../migrations/', import.meta.url))
  const db = openDb(url, 'executions')
  onTestFinished(() => db.close())
  await saveRequirement(db, REQUIREMENT_ID, '{}')
  return db
}

const newExecution = (): Row => ({
  execution_id: newId(),
  workflow_id: newId(),
  workflow_namespace: 'default',
  workflow_name: 'report',
  workflow_version: 1,
  requirement_id: REQUIREMENT_ID,
  input_json: 'null',
  created_by: '',
  created_by_issuer: '',
  depth: 0,
  cancel_with_parent: false,
  priority: 5,
  request_hash: '',
})

const byId = (a: Row, b: Row) => (a.execution_id < b.execution_id ? -1 : 1)

const leaseOf = (row: Row): ConditionalWrite => decided(newRow(row))

async function leasesOf(db: Db, rows: readonly Row[], capacity = CAPACITY) {
  const ids = rows.map(({ execution_id }) => execution_id)
  return (await readWithEvents(db, ids, [])).map((stored) => decided(stored, capacity))
}

function decided(row: ReturnType<typeof newRow>, capacity = CAPACITY): ConditionalWrite {
  const { execution_id } = row
  const offer = { worker_name: 'w1', session_id: 's', connection_generation: 1 }
  const command = { kind: 'lease', offer, capacity } as const
  const { write } = decideGroup({ row, known: [] }, [{ execution_id, command }], LIMITS)
  if (!write) throw new Error('no lease')
  return write
}

/** Runs `work` while another transaction holds the lock of the worker; `writing` of its answer may end later. */
const whileLocked = <T>(db: Db, work: (tx: Tx) => Promise<{ writing: Promise<T> }>) =>
  db.tx(async (tx) => {
    await lockWorkers(tx, ['w1'])
    return work(tx)
  })

const untilWaiting = (db: Db) =>
  expect
    .poll(() => db.rows(sql`select from pg_locks where locktype = 'advisory' and not granted`))
    .toHaveLength(1)
