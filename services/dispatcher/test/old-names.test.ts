import type { Queries } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { countRead } from '@windlass/testkit/query-plan'
import { expect, test } from 'vitest'
import { readDepartures } from '../src/store/departure-rows.ts'
import { page } from '../src/store/fleet-members.ts'
import { list } from '../src/store/records.ts'
import { changesQuery } from '../src/store/watch.ts'
import { startDispatchers } from './dispatcher-fixture.ts'

const OLD = 20_000
const LIVE = 50

/** The last statement that a function of the store runs. */
async function statementOf(run: (db: Queries) => Promise<unknown>): Promise<Sql> {
  let last: Sql | undefined
  const rows = async (statement: Sql) => {
    last = statement
    return []
  }
  await run({ rows } as unknown as Queries)
  return last ?? expect.unreachable()
}

test('thousands of names that left long ago: polls and lists do not read their rows', async () => {
  const { db } = await startDispatchers()
  await db.run(sql`
    insert into workers (name, session_id, instance, connection_generation, last_seen_at, registered_at,
                         evicted_at, changed_at, disconnected_at)
    select 'old-' || i, gen_random_uuid(), '', 1, at, at, at, at, at
      from generate_series(1, ${OLD}::int) as i, lateral (select now() - i * interval '1 minute' - interval '3 hours' as at) as t`)
  await db.run(sql`
    insert into workers (name, session_id, instance, connection_generation, connected, connected_at, replica_id)
    select 'live-' || i, gen_random_uuid(), '', 1, true, now(), gen_random_uuid()
      from generate_series(1, ${LIVE}::int) as i`)
  await db.run(sql`
    insert into records (name, packages, labels, runners, max_concurrent_executions)
    select name, '[]', '{}', '[]', 1 from workers`)
  await db.run(sql`vacuum analyze workers, records`)
  const statements = {
    poll: changesQuery({ within_seconds: 10, silence_seconds: 60 }),
    list: await statementOf((one) => list(one, '')),
    fleet: await statementOf((one) => page(one, { after: '', limit: 500, withPackages: false })),
    departures: await statementOf((one) => readDepartures(one, ['live-1'])),
  }
  for (const [name, statement] of Object.entries(statements))
    expect(await countRead(db, statement), name).toBeLessThan(OLD / 4)
})
