import { pg } from './database.mjs'

const SAMPLE = 1_000
const REQUIREMENT = '00000000-0000-4000-8000-000000000000'

/**
 * Stores finished executions of hello-world, from number `from` to `to`, nine in ten COMPLETED, the
 * others FAILED, with their totals. Returns the ids of a sample.
 */
export async function storeExecutions(url, { from, to, workflow_id }) {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=executions' })
  await client.connect()
  try {
    await client.query('set synchronous_commit = off')
    await client.query(
      "insert into requirements (requirement_id, body) values ($1, '{}') on conflict do nothing",
      [REQUIREMENT],
    )
    const state = "case when i % 10 = 0 then 'FAILED' else 'COMPLETED' end"
    await client.query(
      `insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
         workflow_version, requirement_id, state, worker_name, claim_generation, last_seq, revision,
         input, output, created_at, updated_at, finished_at)
       select gen_random_uuid(), $3, 'default', 'hello_world', 1, $4, ${state}, 'worker-' || i % 4,
              1, 6, 4, '"World"', '"Hello, World"', made, made, made
         from generate_series($1::int + 1, $2::int) as i
        cross join lateral (select now() - ($2::int - i) * interval '10 ms' as made) as t`,
      [from, to, workflow_id, REQUIREMENT],
    )
    await client.query(
      `insert into totals_delta (workflow_namespace, workflow_name, state, delta)
       select 'default', 'hello_world', ${state}, count(*)
         from generate_series($1::int + 1, $2::int) as i group by 3`,
      [from, to],
    )
    for (const statement of ['vacuum analyze executions', 'checkpoint'])
      await client.query(statement)
    const { rows } = await client.query(
      `select replace(execution_id::text, '-', '') as id from executions
        where mod(hashtext(execution_id::text), $1::int) = 0 limit $2`,
      [Math.max(1, Math.floor(to / SAMPLE)), SAMPLE],
    )
    return rows.map(({ id }) => id)
  } finally {
    await client.end()
  }
}
