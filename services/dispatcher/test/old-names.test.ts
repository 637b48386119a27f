import { sql } from '@windlass/runtime/postgres/sql'
import { countRead, statementsOf } from '@windlass/testkit/query-plan'
import { expect, test } from 'vitest'
import { readDepartures } from '../src/store/departure-rows.ts'
import { page } from '../src/store/fleet-members.ts'
import { list } from '../src/store/records.ts'
import { changesQuery } from '../src/store/watch.ts'
import { startDispatchers } from './dispatcher-fixture.ts'

const OLD = 20_000
const LIVE = 50

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
  const statements = [
    changesQuery({ within_seconds: 10, silence_seconds: 60 }),
    ...(await statementsOf((tx) => list(tx, ''))),
    ...(await statementsOf((tx) => page(tx, { after: '', limit: 500, withPackages: false }))),
    ...(await statementsOf((tx) => readDepartures(tx, ['live-1']))),
  ]
  for (const statement of statements)
    expect.soft(await countRead(db, statement), statement.strings.join('?')).toBeLessThan(OLD / 4)
})
