// Layouts of the table `executions` that are compared. Each begins with the table that the migrations make. `id`, `ns`
// and so on are the values of the rows of a transaction; `$1` is the array of their ids.

/** Indexes with a column, or a predicate, that changes while an execution lives. */
const CHANGING = [
  ...['unfinished', 'ended', 'of_workflow_by_finish', 'of_worker', 'of_creator', 'held', 'due'],
  'ready_by_namespace',
]
/** Those of them for searches of ended executions. */
const SEARCHED = ['ended', 'of_workflow_by_finish', 'of_worker', 'of_creator']
const dropped = (names) => names.map((name) => `drop index executions_${name};`).join('\n')

/** The constraints name columns that some layouts have elsewhere. */
const UNCONSTRAINED = `
  do $$ declare one name; begin
    for one in select conname from pg_constraint where conrelid = 'executions'::regclass and contype in ('c', 'f')
    loop execute format('alter table executions drop constraint %I', one); end loop;
  end $$;`

/** Queue, holder and deadline of executions that have not ended. */
const UNFINISHED = `
  create table unfinished (execution_id uuid primary key, created_at timestamptz not null default now(),
    requirement_id uuid, workflow_namespace text, priority smallint, queued_at timestamptz, held_by text,
    held_session text, deadline_at timestamptz) with (fillfactor = 50);
  create index on unfinished (created_at, execution_id);
  create index on unfinished (held_by) where held_by is not null;
  create index on unfinished (deadline_at) where deadline_at is not null;
  create index on unfinished (requirement_id, workflow_namespace, queued_at, execution_id) where queued_at is not null;`

const COLUMNS = `execution_id, workflow_id, workflow_namespace, workflow_name, workflow_version, requirement_id,
  state, input, created_by, request_hash, revision, priority, input_bytes`
const VALUES = `id, gen_random_uuid(), 'default', 'hello_world', 1, '00000000-0000-4000-8000-000000000000',
  'SCHEDULED', '"World"'::json, 'admin', md5(id::text), 1, 5, 7`
const HOLDER = "held_by = 'worker', held_session = md5('s')"
const ended = `state = 'COMPLETED', held_by = null, held_session = null, output = '"Hello, World"', revision = revision + 1,
  last_seq = 6, output_bytes = 14, updated_at = clock_timestamp()`

/** The statements of an execution by step, for a table with all columns. */
const stepsOf = (table, end) => ({
  createQueued: `insert into ${table} (${COLUMNS}, queued_at) select ${VALUES}, clock_timestamp() from unnest($1::uuid[]) as id`,
  createLeased: `insert into ${table} (${COLUMNS}, held_by, held_session, worker_name, deadline_at, claim_generation)
    select ${VALUES}, 'worker', md5('s'), 'worker', clock_timestamp() + interval '10 s', 1 from unnest($1::uuid[]) as id`,
  lease: `update ${table} set queued_at = null, ${HOLDER}, worker_name = 'worker', claim_generation = 1,
    deadline_at = clock_timestamp() + interval '10 s', revision = 2 where execution_id = any($1)`,
  claim: `update ${table} set state = 'CLAIMED', deadline_at = null, attempts = 1, started_at = clock_timestamp(),
    revision = 3 where execution_id = any($1)`,
  run: `update ${table} set state = 'RUNNING', last_seq = 3, revision = 4 where execution_id = any($1)`,
  end,
})

const endInPlace = (table) =>
  `update ${table} set ${ended}, deadline_at = null, finished_at = clock_timestamp() where execution_id = any($1)`

/** Values of the columns that the end changes, for a layout that writes a new row. */
const AT_END = {
  state: "'COMPLETED'",
  held_by: 'null',
  held_session: 'null',
  deadline_at: 'null',
  output: `'"Hello, World"'::json`,
  revision: 'revision + 1',
  last_seq: '6',
  output_bytes: '14',
  updated_at: 'clock_timestamp()',
  finished_at: 'clock_timestamp()',
}
const endByMove = (columns) => `
  with gone as (delete from live where execution_id = any($1) returning *)
  insert into executions (${columns.join(', ')})
  select ${columns.map((name) => AT_END[name] ?? name).join(', ')} from gone`

/** The steps before the end, with that table. */
const NEXT_TO = {
  createQueued: `with made as (insert into executions (${COLUMNS}) select ${VALUES} from unnest($1::uuid[]) as id)
    insert into unfinished (execution_id, requirement_id, workflow_namespace, priority, queued_at)
    select id, '00000000-0000-4000-8000-000000000000', 'default', 5, clock_timestamp() from unnest($1::uuid[]) as id`,
  createLeased: `with made as (insert into executions (${COLUMNS}) select ${VALUES} from unnest($1::uuid[]) as id)
    insert into unfinished (execution_id, held_by, held_session, deadline_at)
    select id, 'worker', md5('s'), clock_timestamp() + interval '10 s' from unnest($1::uuid[]) as id`,
  lease: `with one as (update executions set worker_name = 'worker', claim_generation = 1, revision = 2 where execution_id = any($1))
    update unfinished set queued_at = null, ${HOLDER}, deadline_at = clock_timestamp() + interval '10 s' where execution_id = any($1)`,
  claim: `with one as (update executions set state = 'CLAIMED', attempts = 1, started_at = clock_timestamp(), revision = 3
      where execution_id = any($1))
    update unfinished set deadline_at = null where execution_id = any($1)`,
  run: `update executions set state = 'RUNNING', last_seq = 3, revision = 4 where execution_id = any($1)`,
}

export const LAYOUTS = {
  'this one': { setUp: '', stepsFor: () => stepsOf('executions', endInPlace('executions')) },
  'tables of unfinished and of ended executions next to it': {
    setUp: `${dropped(CHANGING)} ${UNCONSTRAINED}
      create index executions_of_creator on executions (created_by, created_at, execution_id);
      ${UNFINISHED}
      create table ended (execution_id uuid primary key, state text, workflow_namespace text, workflow_name text,
        created_at timestamptz, finished_at timestamptz, worker_name text);
      create index on ended (state, created_at, execution_id);
      create index on ended (workflow_namespace, workflow_name, finished_at, execution_id);
      create index on ended (worker_name, created_at, execution_id);`,
    stepsFor: () => ({
      ...NEXT_TO,
      end: `with gone as (delete from unfinished where execution_id = any($1)),
          one as (update executions set ${ended}, finished_at = clock_timestamp() where execution_id = any($1)
          returning execution_id, state, workflow_namespace, workflow_name, created_at, finished_at, worker_name)
        insert into ended select * from one`,
    }),
  },
  'ended executions move to the table of lists': {
    setUp: `create table live (like executions including all);
      do $$ declare one name; begin
        for one in select indexrelid::regclass::text from pg_index
          where indrelid = 'live'::regclass and not indisprimary
            and pg_get_indexdef(indexrelid) ~ 'finished_at IS NOT NULL|schedule_id|parent_id|\\(created_at'
            and pg_get_indexdef(indexrelid) !~ 'finished_at IS NULL'
        loop execute 'drop index ' || one; end loop;
      end $$;
      ${dropped(['unfinished', 'held', 'due', 'ready_by_namespace'])} ${UNCONSTRAINED}`,
    stepsFor: (columns) => stepsOf('live', endByMove(columns)),
  },
  // PostgreSQL 16 is the first in which a BRIN index does not prevent heap-only updates.
  'a BRIN index of ends instead of four indexes': {
    setUp: `${dropped(SEARCHED)} create index on executions using brin (finished_at);`,
    stepsFor: () => stepsOf('executions', endInPlace('executions')),
  },
  'the same, and a table of unfinished executions next to it': {
    setUp: `${dropped(CHANGING)} ${UNCONSTRAINED} ${UNFINISHED}
      create index on executions using brin (finished_at);`,
    stepsFor: () => ({
      ...NEXT_TO,
      end: `with gone as (delete from unfinished where execution_id = any($1))
        update executions set ${ended}, finished_at = clock_timestamp() where execution_id = any($1)`,
    }),
  },
  'no index with a changing column': {
    setUp: dropped(CHANGING),
    stepsFor: () => stepsOf('executions', endInPlace('executions')),
  },
}
