import { newId } from '@windlass/runtime/ids'
import { openDb, type Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { freshDatabase } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import type { Command } from '../src/engine/command.ts'
import { WaitingDispatchers } from '../src/engine/waiters.ts'
import { createExecutionWriter } from '../src/engine/writer.ts'
import { leased, limits } from './execution-samples.ts'
import { event, get, run, setup, worker } from './executions-fixture.ts'
import { REQUIREMENT_ID, seedRequirement, seedRow } from './seed-rows.ts'

const HANG_MS = 60_000
const LEASES = 20

const holder = { worker_name: 'a', session_id: 's', claim_generation: 3 }
const COMMANDS = {
  claim: { kind: 'claim', holder },
  release: { kind: 'release', holder },
  evict: { kind: 'lose', held_by: 'a', upToConnection: 1, loss: 'died' },
  expire: { kind: 'expire' },
  cancel: { kind: 'cancel' },
} satisfies Record<string, Command>

const REQUEUED = { state: 'SCHEDULED', queued: true, claim_generation: 4, held_by: undefined }
const CLAIMED = { state: 'CLAIMED', queued: false, claim_generation: 3, held_by: 'a' }
const CANCELLED = { state: 'CANCELLED', queued: false, claim_generation: 4, held_by: undefined }
const CHANGED = { changed: true }
const NO_OP = { changed: false }
const CONFLICT = { fault: expect.objectContaining({ kind: 'conflict' }) }

/** A writer over an empty database. Commands of `together` are one batch, in their order. */
async function writerFixture() {
  const url = await freshDatabase('executions', new URL('../migrations/', import.meta.url))
  const db = openDb(url, 'executions')
  onTestFinished(() => db.close())
  const writer = createExecutionWriter({
    db,
    limits,
    waiters: new WaitingDispatchers(),
    onCommit: () => {},
  })
  await db.tx(seedRequirement)
  return {
    db,
    seed: (make: (tx: Tx) => Promise<void>) => db.tx(make),
    async together(execution_id: string, commands: readonly Command[]) {
      // The batch of this command is in flight while the others arrive: they form the next one.
      const first = writer.submit({ execution_id: newId(), command: { kind: 'verify', holder } })
      const others = commands.map((command) => writer.submit({ execution_id, command }))
      await first
      return Promise.all(others)
    },
    row: (execution_id: string) =>
      db.maybe(sql`
        select state, queued_at is not null as queued, claim_generation, held_by
          from executions where execution_id = ${execution_id}`),
  }
}

type Name = keyof typeof COMMANDS
const CASES: [commands: Name[], row: object, answers: object[]][] = [
  [['release', 'expire'], REQUEUED, [CHANGED, NO_OP]],
  [['evict', 'expire'], REQUEUED, [CHANGED, NO_OP]],
  [['expire', 'expire'], REQUEUED, [CHANGED, NO_OP]],
  [['expire', 'release'], REQUEUED, [CHANGED, CONFLICT]],
  [['expire', 'evict'], REQUEUED, [CHANGED, NO_OP]],
  [['claim', 'expire'], CLAIMED, [{ changed: true, execution: CLAIMED }, NO_OP]],
  [['expire', 'claim'], REQUEUED, [CHANGED, CONFLICT]],
  [['claim', 'expire', 'expire'], CLAIMED, [CHANGED, NO_OP, NO_OP]],
  [['release', 'expire', 'expire'], REQUEUED, [CHANGED, NO_OP, NO_OP]],
  [['cancel', 'expire'], CANCELLED, [CHANGED, NO_OP]],
]

const named = CASES.map(([commands, row, answers]) => ({
  name: commands.join(', '),
  commands,
  row,
  answers,
}))

test.each(named)(
  '$name of an overdue lease in one batch: each decides on the result of the one before',
  async ({ commands, row, answers }) => {
    const { seed, together, row: rowOf } = await writerFixture()
    const execution_id = newId()
    const overdue = {
      ...leased,
      execution_id,
      workflow_id: newId(),
      requirement_id: REQUIREMENT_ID,
      claim_generation: 3,
    }
    await seed((tx) => seedRow(tx, overdue, 'passed'))
    const results = await together(
      execution_id,
      commands.map((name) => COMMANDS[name]),
    )
    expect(await rowOf(execution_id)).toEqual(row)
    for (const [i, answer] of answers.entries()) expect(results[i]).toMatchObject(answer)
  },
)

test('leases released behind a locked row while they expire: all are queued again', async () => {
  const { client, db } = await setup({ env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '0.6' } })
  const w = worker(client)
  const stuck = await run(client)
  await w.lease()
  await w.claim(stuck.execution_id)
  const ids: string[] = []
  for (let i = 0; i < LEASES; i++) ids.push((await run(client)).execution_id)
  await w.lease({ limit: LEASES })
  const calls: Promise<unknown>[] = []
  await db.tx(async (tx) => {
    await tx.rows(sql`select from executions where execution_id = ${stuck.execution_id} for update`)
    const report = { generation: 1, events: [event('TASK_STARTED')] }
    calls.push(w.report(stuck.execution_id, 'RUNNING', report))
    await expect.poll(() => isWaitingForLock(tx), { timeout: HANG_MS }).toBe(true)
    calls.push(...ids.map((id) => w.release(id, 1)))
    // The leases expire, and the sweeper, which runs each second, finds them.
    await tx.rows(sql`select pg_sleep(1.8)`)
  })
  await Promise.allSettled(calls)
  await expect
    .poll(() => Promise.all(ids.map((id) => get(client, id))), { timeout: HANG_MS })
    .toSatisfy((rows: { claim_generation: number }[]) =>
      rows.every(({ claim_generation }) => claim_generation === 2),
    )
  const rows = await Promise.all(ids.map((id) => get(client, id)))
  expect(rows.map(({ state, output_json }) => ({ state, output_json }))).toEqual(
    ids.map(() => ({ state: 'SCHEDULED', output_json: undefined })),
  )
})

const isWaitingForLock = async (tx: Tx) =>
  (
    await tx.rows(sql`
      select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`)
  ).length > 0
