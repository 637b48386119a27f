import { randomBytes } from 'node:crypto'
import { type Db, openDb } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { freshDatabase } from '@windlass/testkit/database'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { CommandResult } from '../src/engine/apply.ts'
import type { BatchResult } from '../src/engine/batch.ts'
import { LogCache } from '../src/engine/cache/logs.ts'
import { RowCache } from '../src/engine/cache/rows.ts'
import type { CommandBatch } from '../src/engine/command.ts'
import { applyOptimistically, type Caches } from '../src/engine/optimistic.ts'
import { applyUnderLocks } from '../src/engine/pessimistic.ts'
import * as approvals from '../src/store/approval-rows.ts'
import { type BatchCase, batchCase } from './batch-cases.ts'
import { answerOf, copyOf, normalized } from './batch-copies.ts'
import { EXAMPLES } from './batch-examples.ts'
import { limits } from './execution-samples.ts'
import { type Deadline, seedRequirement, seedRow } from './seed-rows.ts'

const CASES = 100
const BATCH_SIZE = 3
const HANG_MS = 120_000

type Apply = (commands: CommandBatch) => Promise<CommandResult[]>

const inOrder = (commands: CommandBatch, results: BatchResult['results']) =>
  commands.map((command) => results.get(command) as CommandResult)

/** Applies batches on the pessimistic path only. */
const lockedBatches =
  (db: Db): Apply =>
  async (commands) =>
    inOrder(commands, (await applyUnderLocks(db, commands, limits)).results)

/** Applies batches optimistically first, with caches that the batches fill, as the writer does. */
function optimisticBatches(db: Db): Apply {
  const caches: Caches = { rows: new RowCache(), logs: new LogCache() }
  return async (commands) => {
    const { results, committed } = await applyOptimistically({ db, caches, limits }, commands)
    const left = commands.filter((command) => !results.has(command))
    const late = left.length > 0 ? await applyUnderLocks(db, left, limits) : undefined
    for (const changes of [committed, late?.committed ?? []]) {
      caches.logs.record(changes)
      caches.rows.record(changes)
    }
    return inOrder(commands, new Map([...results, ...(late?.results ?? [])]))
  }
}

/** Applies a copy of the case in batches of one size. Returns answers and stored content. */
async function play(db: Db, apply: Apply, { plan, size }: { plan: BatchCase; size: number }) {
  const prefix = randomBytes(12).toString('hex')
  const { rows, deadlines, approvals: asked, commands } = copyOf(plan, prefix)
  await db.tx(async (tx) => {
    for (const [i, row] of rows.entries()) await seedRow(tx, row, deadlines[i] as Deadline)
    if (asked.length > 0) await approvals.save(tx, asked)
  })
  const results: CommandResult[] = []
  for (let at = 0; at < commands.length; at += size)
    results.push(...(await apply(commands.slice(at, at + size))))
  return normalized({ answers: results.map(answerOf), ...(await contentOf(db, prefix)) }, prefix)
}

/** Stored content; deadlines in steps of 10 s, so that rows written one after the other compare. */
async function contentOf(db: Db, prefix: string) {
  const ids = sql`execution_id::text like ${`${uuidStart(prefix)}%`}`
  const rows = await db.rows(sql`
    select state, held_by, held_session, held_connection, worker_name, claim_generation, attempts,
           completions, resume_due, pause_source_id, gated, preferred_worker, passed_over, last_seq,
           revision, output, pause_output, queue_timeout_ms, finished_at is not null as finished,
           parked, queued_at < clock_timestamp() - interval '1 minute' as queued_earlier,
           greatest(-1, least(100, ceil(extract(epoch from deadline_at - clock_timestamp()) / 10)))::int as deadline
      from executions where ${ids} order by execution_id`)
  const log = await db.rows(sql`
    select execution_id, seq, event_id, type, source_id, name, value
      from events where ${ids} order by execution_id, seq`)
  const decisions = await db.rows(sql`
    select approval_id, task_call_id, status, scope, approver_subject, reason,
           decided_at is not null as decided
      from approvals where ${ids} order by execution_id, requested_at`)
  const totals = await db.rows(sql`
    select state, sum(delta)::int as delta from totals_delta
     where workflow_namespace = ${prefix} group by state having sum(delta) <> 0 order by state`)
  const conditions = await db.rows(sql`
    select w.wakes_on, w.execution_id from wake_conditions w join executions e using (execution_id)
     where w.${ids} and e.parked order by 1, 2`)
  return { rows, log, decisions, totals, conditions }
}

/** The first 24 digits in the notation of a uuid. */
const uuidStart = (hex: string) =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`

test.each([
  // Only the pessimistic path keeps the order between two executions of one batch.
  { name: 'pessimistic', apply: lockedBatches, kinds: { maxLength: 3 } },
  { name: 'approval', apply: lockedBatches, kinds: { maxLength: 3, isOfApprovals: true } },
  { name: 'optimistic', apply: optimisticBatches, kinds: { maxLength: 6, isAlone: true } },
])(
  '$name batches: rows, logs, approvals, totals and answers are those of single commands',
  { timeout: HANG_MS },
  async ({ apply, kinds }) => {
    const url = await freshDatabase('executions', new URL('../migrations/', import.meta.url))
    const db = openDb(url, 'executions')
    onTestFinished(() => db.close())
    await db.tx(seedRequirement)
    await fc.assert(
      fc.asyncProperty(batchCase(kinds), async (plan) => {
        const together = await play(db, apply(db), { plan, size: BATCH_SIZE })
        const single = await play(db, apply(db), { plan, size: 1 })
        expect(together).toEqual(single)
      }),
      { numRuns: CASES, examples: EXAMPLES },
    )
  },
)
