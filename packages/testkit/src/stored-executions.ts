import { query } from './database.ts'

const REQUIREMENT = '00000000-0000-4000-8000-000000000000'
const WORKFLOW = '00000000-0000-4000-8000-000000000001'

/**
 * Stores `count` finished executions of `default/stored` with two log entries and their totals, one in ten
 * FAILED, one created each 10 ms until now. Uses the columns of the first migration only, so that the
 * database may be that of any release.
 */
export async function storeExecutions(url: string, count: number): Promise<void> {
  const state = "case when i % 10 = 0 then 'FAILED' else 'COMPLETED' end"
  const run = (statement: string) => query(url, statement)
  await run(`
    insert into executions.requirements (requirement_id, body) values ('${REQUIREMENT}', '{}')
    on conflict do nothing`)
  await run(`
    insert into executions.executions (execution_id, workflow_id, workflow_namespace, workflow_name,
      workflow_version, requirement_id, state, worker_name, claim_generation, last_seq, revision,
      input, output, created_at, updated_at, finished_at)
    select md5(i::text)::uuid, '${WORKFLOW}', 'default', 'stored', 1, '${REQUIREMENT}', ${state},
           'worker-' || i % 4, 1, 2, 4, '"World"', '"Hello, World"', made, made, made
      from generate_series(1, ${count}) as i
     cross join lateral (select now() - (${count} - i) * interval '10 ms' as made) as t`)
  await run(`
    insert into executions.events (execution_id, seq, event_id, type, source_id, name, value, time, xid)
    select md5(i::text)::uuid, seq, seq::text, 'WORKFLOW_' || case seq when 1 then 'STARTED' else ${state} end,
           '', 'stored', '{}', '2026-01-01T00:00:00Z', '0'
      from generate_series(1, ${count}) as i cross join generate_series(1, 2) as seq`)
  await run(`
    insert into executions.totals_delta (workflow_namespace, workflow_name, state, delta)
    select 'default', 'stored', ${state}, count(*) from generate_series(1, ${count}) as i group by 3`)
  await run('analyze executions.executions')
  await run('analyze executions.events')
}
