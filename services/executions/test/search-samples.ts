import { newId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

export const SCHEDULE = '5'.repeat(32)
export const PARENT = '6'.repeat(32)
export const MINUTE_MS = 60_000
export const FIRST_MS = Date.parse('2026-03-01T00:00:00Z')

const STATES = ['COMPLETED', 'FAILED', 'CANCELLED', 'SCHEDULED', 'RUNNING', 'PAUSED']

const pick = <T>(values: readonly T[], i: number): T => values[i % values.length] as T

/** One of 300 rows, as the database gets it. Row i was created at minute i. */
function sampleOf(i: number) {
  const created = FIRST_MS + i * MINUTE_MS
  const every = <T>(n: number, value: T): T | undefined => (i % n === 0 ? value : undefined)
  return {
    id: newId(created),
    created,
    state: pick(STATES, i),
    namespace: pick(['one', 'two', 'three'], i),
    name: pick(['a', 'b'], i),
    version: 1 + (i % 4),
    worker: every(5, 'w1') ?? 'w2',
    creator: every(7, 'ann') ?? 'bob',
    schedule: every(11, SCHEDULE),
    parent: every(13, PARENT),
    started: i % 6 === 3 ? undefined : created + 1_000,
    // Executions end in another order than they began in.
    finished: i % 6 < 3 ? created + 1_000 + ((i * 37) % 101) * MINUTE_MS : undefined,
    error: i % 6 === 1 ? `ValueError: order ${i % 10} is 100% lost_` : undefined,
    input: JSON.stringify({ order: { id: `A-${i % 20}`, n: i } }),
    tags: every(17, { env: 'prod', team: pick(['y', 'x'], i) }),
  }
}
export type Sample = ReturnType<typeof sampleOf>

const at = (ms: number | undefined) => (ms === undefined ? null : new Date(ms))

/** Inserts the samples with their totals. */
export async function seedSamples(db: Db): Promise<Sample[]> {
  const samples = Array.from({ length: 300 }, (_, i) => sampleOf(i))
  const requirement = newId()
  await db.run(sql`insert into requirements values (${requirement}, '{}')`)
  for (const one of samples) await insert(db, one, requirement)
  await db.run(sql`
    insert into totals select workflow_namespace, workflow_name, state, count(*)
      from executions group by 1, 2, 3`)
  return samples
}

async function insert(db: Db, one: Sample, requirement: string): Promise<void> {
  const isQueued = one.state === 'SCHEDULED'
  await db.run(sql`
    insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
      workflow_version, requirement_id, state, held_by, worker_name, queued_at, input, input_bytes,
      created_by, schedule_id, parent_id, created_at, started_at, finished_at, error, tags)
    values (${one.id}, ${newId()}, ${one.namespace}, ${one.name}, ${one.version}, ${requirement},
      ${one.state}, ${one.state === 'RUNNING' ? one.worker : null}, ${one.worker},
      ${isQueued ? at(one.created) : null}, ${one.input}, ${one.input.length}, ${one.creator},
      ${one.schedule ?? null}, ${one.parent ?? null}, ${at(one.created)}, ${at(one.started)},
      ${at(one.finished)}, ${one.error ?? null}, ${one.tags ? JSON.stringify(one.tags) : null})`)
  for (const [key, value] of Object.entries(one.tags ?? {}))
    await db.run(sql`
      insert into execution_tags values (${key}, ${value}, ${at(one.created)}, ${one.id})`)
}
