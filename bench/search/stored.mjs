import { query } from '../lib/database.mjs'

/** Executions of one statement. */
const BATCH = 50_000
export const DAYS = 30
const REQUIREMENT = '00000000-0000-4000-8000-000000000001'
/** A schedule with 40,000 executions, and an execution with 16,000 nested runs. */
export const SCHEDULE = '5'.repeat(32)
export const PARENT = '6'.repeat(32)
/** One in a thousand executions is in this namespace, which a caller may be limited to. */
export const SMALL_NAMESPACE = 'lab'

/** A number below `below`, the same in each run, that depends on the execution `i` and on `seed`. */
const draw = (seed, below) => `mod(abs(hashint8extended(i, ${seed})), ${below})`

/** Half of the executions are of one workflow, the others of 49, in four namespaces. */
const WORKFLOW = `case when i % 1000 = 7 then 50 when ${draw(1, 2)} = 0 then 0 else 1 + ${draw(2, 49)} end`

/** Constants of each execution, from its number. The newest 3,000 have not ended. */
const values = ({ from, to, total }) => `
  select i, created, workflow, state, started, tagged,
         case when finished > now() then now() else finished end as finished
    from generate_series(${from}::bigint + 1, ${to}::bigint) as i
   cross join lateral (
     select date_trunc('milliseconds', now()) - (${total} - i) * (interval '${DAYS} days' / ${total}) as created,
            ${WORKFLOW} as workflow, ${draw(3, 100)} as n, ${draw(4, 5)} = 0 as tagged) as a
   cross join lateral (
     select case when i > ${total} - 3000 then (array['SCHEDULED', 'RUNNING', 'PAUSED'])[1 + i % 3]
                 when i % 5000 = 11 then 'PAUSED'
                 when n < 90 then 'COMPLETED' when n < 98 then 'FAILED' else 'CANCELLED' end as state) as b
   cross join lateral (
     select case when state <> 'SCHEDULED' then created + ${draw(5, 10_000)} * interval '1 ms' end as started) as c
   cross join lateral (
     select case when state in ('COMPLETED', 'FAILED', 'CANCELLED')
                 then started + power(${draw(6, 100)}, 2) * interval '100 ms' end as finished) as d`

/** A UUID of version 7: it begins with the time of creation. */
const ID = `(lpad(to_hex((extract(epoch from created) * 1000)::bigint), 12, '0') || '7'
  || substr(md5(i::text), 1, 3) || '8' || substr(md5(i::text), 4, 15))::uuid`

/** About 350 bytes; one in a thousand has 20 kB. */
const INPUT = `json_build_object(
  'order', json_build_object('id', 'A-' || i, 'customer', 'C-' || ${draw(7, 10_000)}, 'lines', json_build_array(
    json_build_object('sku', 'S-' || ${draw(8, 500)}, 'count', 1 + i % 9, 'price', '12.50'),
    json_build_object('sku', 'S-' || ${draw(9, 500)}, 'count', 1 + i % 7, 'price', '7.20'))),
  'reply_to', 'orders@example.org', 'trace', md5(i::text), 'urgent', i % 3 = 0,
  'note', repeat('Please deliver to the back entrance. ', case when i % 1000 = 5 then 550 else 2 end))`

const TAGS = `json_build_object('customer', 'c-' || ${draw(10, 10_000)}, 'env', case when ${draw(11, 10)} = 0 then 'test' else 'prod' end)`

const insert = (range) => `
  insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name, workflow_version,
    requirement_id, state, held_by, worker_name, claim_generation, queued_at, attempts, last_seq, revision,
    input, input_bytes, output, output_bytes, error, created_by, schedule_id, parent_id, tags,
    created_at, updated_at, started_at, finished_at)
  select ${ID}, md5('workflow ' || workflow)::uuid,
         case when workflow < 20 then 'default' when workflow < 40 then 'team'
              when workflow < 50 then 'ops' else '${SMALL_NAMESPACE}' end,
         case when workflow = 0 then 'hello_world' else 'workflow_' || workflow end,
         case when i % 100000 = 5 then 9 else 1 + ${draw(12, 5)} end,
         '${REQUIREMENT}', state, case when state = 'RUNNING' then worker end,
         case when state <> 'SCHEDULED' then worker end, 1, case when state = 'SCHEDULED' then created end,
         1, 6, 4, input, octet_length(input::text), output, octet_length(output::text),
         case when state <> 'FAILED' then null when i % 500 = 3 then 'TimeoutError: the bank did not answer'
              else 'ValueError: order ' || i % 20 || ' is not in stock' end,
         case when i % 50000 = 1 then 'user-rare' else 'user-' || ${draw(13, 30)} end,
         case when i % 25 = 3 then '${SCHEDULE}'::uuid when i % 25 = 4 then md5('schedule ' || i % 10)::uuid end,
         case when i % 60 = 9 then '${PARENT}'::uuid when i % 10 = 2 then md5('parent ' || i / 30)::uuid end,
         case when tagged then ${TAGS} end, created, coalesce(finished, created), started, finished
    from (${values(range)}) as v
   cross join lateral (
     select case when i % 50000 = 2 then 'worker-rare' else 'worker-' || ${draw(14, 40)} end as worker,
            ${INPUT} as input,
            case when state = 'COMPLETED' then json_build_object('total', i % 1000, 'status', 'shipped') end as output) as w`

const TAG_ROWS = `
  insert into execution_tags
  select key, value, created_at, execution_id
    from executions cross join lateral json_each_text(tags) where tags is not null`

const TOTALS = `
  insert into totals
  select workflow_namespace, workflow_name, state, count(*) from executions group by 1, 2, 3`

/**
 * Stores executions of the last 30 days as the service would have left them: with sizes, tags, errors, schedules,
 * nested runs and totals. Logs are left out, since no search reads them. `onStored` gets the number so far.
 */
export async function store(url, total, onStored) {
  const fast = 'set synchronous_commit = off'
  await query(url, `insert into requirements values ('${REQUIREMENT}', '{}')`)
  for (let from = 0; from < total; from += BATCH) {
    const to = Math.min(from + BATCH, total)
    await query(url, fast, insert({ from, to, total }))
    onStored(to)
  }
  await query(url, fast, TAG_ROWS)
  await query(url, fast, TOTALS)
  await query(url, 'vacuum analyze executions')
  await query(url, 'vacuum analyze execution_tags')
  await query(url, 'checkpoint')
}
