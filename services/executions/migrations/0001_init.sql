-- Requirements of workflows on workers. Executions with equal requirements share one row, so that
-- matching is decided once for each requirement and worker.
create table requirements (
  requirement_id uuid primary key,
  body           json not null
);

create table executions (
  execution_id          uuid primary key,
  workflow_id           uuid not null,
  workflow_namespace    text not null,
  workflow_name         text not null,
  workflow_version      integer not null check (workflow_version > 0),
  requirement_id        uuid not null references requirements,
  state                 text not null check (state in
    ('CREATED', 'SCHEDULED', 'CLAIMED', 'RUNNING', 'PAUSED', 'RESUMING', 'RESUME_SCHEDULED',
     'RESUME_CLAIMED', 'CANCELLING', 'COMPLETED', 'FAILED', 'CANCELLED')),
  -- Holder, with the worker session and connection generation of its lease.
  held_by               text,
  held_session          text,
  held_connection       bigint,
  -- Last holder; what clients see.
  worker_name           text,
  -- Fencing token: grows with every lease and every loss. Worker writes with another value get 409.
  claim_generation      bigint not null default 0,
  priority              smallint not null default 0,
  queued_at             timestamptz,
  deadline_at           timestamptz,
  -- Claims since `completions` last grew: at max_attempts an execution FAILS when its worker dies.
  attempts              integer not null default 0,
  completions           integer not null default 0,
  -- True while no task has received the body of the last resume.
  resume_due            boolean not null default false,
  pause_source_id       text,
  -- True if it has requested approvals: only then do commands read them.
  gated                 boolean not null default false,
  preferred_worker      text,
  -- Worker whose last lease expired; the next lease prefers any other worker.
  passed_over           text,
  last_seq              bigint not null default 0,
  -- Grows with every change: a decision without locks is written only if it is unchanged.
  revision              bigint not null default 0,
  input                 json not null,
  output                json,
  pause_output          json,
  created_by            text not null default '',
  schedule_id           uuid,
  request_hash          text not null default '',
  created_at            timestamptz not null default now(),
  updated_at            timestamptz not null default now(),
  finished_at           timestamptz,
  -- Every non-terminal state has an owner, and a deadline where the owner can vanish unnoticed.
  constraint queued_is_unheld check ((queued_at is not null) = (state in ('SCHEDULED', 'RESUMING') and held_by is null)),
  constraint held_while_working check (held_by is not null or state not in
    ('CLAIMED', 'RUNNING', 'RESUME_SCHEDULED', 'RESUME_CLAIMED', 'CANCELLING')),
  constraint unheld_while_resting check (held_by is null or state not in
    ('PAUSED', 'RESUMING', 'COMPLETED', 'FAILED', 'CANCELLED')),
  constraint deadline_where_owner_can_vanish check (deadline_at is not null or not
    (state in ('RESUME_SCHEDULED', 'CANCELLING') or (state = 'SCHEDULED' and held_by is not null))),
  constraint finished_is_final check ((finished_at is not null) = (state in ('COMPLETED', 'FAILED', 'CANCELLED')))
) with (fillfactor = 80);

create index executions_newest on executions (created_at desc, execution_id desc);
create index executions_by_workflow on executions
  (workflow_namespace, workflow_name, created_at desc, execution_id desc);
create index executions_live on executions (created_at desc, execution_id desc) where finished_at is null;
create index executions_by_end on executions (state, created_at desc, execution_id desc)
  where finished_at is not null;
-- The ready queue.
create index executions_ready on executions (requirement_id, priority desc, queued_at, execution_id)
  where queued_at is not null;
create index executions_held on executions (held_by) where held_by is not null;
create index executions_due on executions (deadline_at) where deadline_at is not null;

-- The log of each execution, and the outbox of the service: `xid` is the order of commit.
create table events (
  execution_id uuid not null,
  seq          bigint not null,
  event_id     text not null,
  type         text not null,
  source_id    text not null,
  name         text not null,
  value        json not null,
  time         text not null,
  xid          xid8 not null default pg_current_xact_id(),
  primary key (execution_id, seq)
);
-- A repeated checkpoint appends nothing.
create unique index events_once on events (execution_id, event_id, type);
-- Events that the relay publishes: only the types that durable consumers need.
create index events_to_publish on events (xid, execution_id, seq)
  where type in ('WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED');

create table relay_cursor (
  name         text primary key,
  xid          xid8 not null,
  execution_id uuid not null,
  seq          bigint not null
);

-- Maintained counts: each batch inserts its deltas, a loop folds them into the totals.
create table totals (
  workflow_namespace text not null,
  workflow_name      text not null,
  state              text not null,
  total              bigint not null,
  primary key (workflow_namespace, workflow_name, state)
);
create table totals_delta (
  workflow_namespace text not null,
  workflow_name      text not null,
  state              text not null,
  delta              integer not null
);

-- Approvals of task calls. They change only under the lock of their execution's row.
create table approvals (
  approval_id       uuid primary key,
  execution_id      uuid not null,
  task_call_id      text not null,
  task_name         text not null,
  status            text not null check (status in ('pending', 'approved', 'rejected', 'cancelled')),
  requested_at      timestamptz not null default clock_timestamp(),
  decided_at        timestamptz,
  approver_subject  text not null default '',
  approver_provider text not null default '',
  reason            text,
  scope             text not null default 'call' check (scope in ('call', 'execution')),
  constraint decided_is_dated check ((decided_at is null) = (status = 'pending')),
  unique (execution_id, task_call_id)
);
create index approvals_newest on approvals (status, requested_at desc, approval_id desc);
