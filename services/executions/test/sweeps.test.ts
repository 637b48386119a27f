import { sql } from '@windlass/runtime/postgres/sql'
import { countRead, statementsOf } from '@windlass/testkit/query-plan'
import { expect, test } from 'vitest'
import { listCancelling, listExpired } from '../src/store/deadlines.ts'
import { deleteRecords, scan } from '../src/store/expired.ts'
import { deleteExpired } from '../src/store/keys.ts'
import { run, setup } from './executions-fixture.ts'

const COUNT = 5_000
const LIMIT = 500

test('thousands of rows that are not due: no sweep reads them', async () => {
  const { client, db } = await setup()
  const requirement = { packages: [], affinity: {}, runner: '', queue_timeout: 3_600 }
  const { execution_id } = await run(client, { requirement })
  await db.run(sql`
    insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
      workflow_version, requirement_id, state, queued_at, input, deadline_at)
    select gen_random_uuid(), workflow_id, workflow_namespace, workflow_name, workflow_version,
           requirement_id, state, queued_at, '1', deadline_at
      from executions, generate_series(1, ${COUNT}::int) where execution_id = ${execution_id}`)
  await db.run(sql`
    insert into idempotency_keys (key_id, execution_id, expires_at)
    select gen_random_uuid(), gen_random_uuid(), now() + interval '1 day'
      from generate_series(1, ${COUNT}::int)`)
  await db.run(sql`
    insert into deleted_executions (execution_id, refused_until, has_log)
    select gen_random_uuid(), now() + interval '1 day', false
      from generate_series(1, ${COUNT}::int)`)
  await db.run(sql`vacuum analyze executions, idempotency_keys, deleted_executions`)
  const statements = [
    ...(await statementsOf((tx) => listExpired(tx, LIMIT))),
    ...(await statementsOf((tx) => listCancelling(tx, LIMIT))),
    ...(await statementsOf((tx) => deleteExpired(tx, LIMIT))),
    ...(await statementsOf((tx) => deleteRecords(tx, LIMIT))),
    ...(await statementsOf((tx) => scan(tx, { rule: 'executions', days: 1 }, LIMIT))),
  ]
  expect(statements).toHaveLength(5)
  for (const statement of statements)
    expect.soft(await countRead(db, statement), statement.strings.join('?')).toBeLessThan(COUNT / 4)
})
