create table schedules (
  id uuid primary key,
  name text not null unique check (char_length(name) between 1 and 255),
  -- the version it was bound to last; what runs is always the latest
  workflow_id uuid not null,
  workflow_namespace text not null,
  workflow_name text not null,
  description text,
  schedule_type text not null check (schedule_type in ('cron', 'interval', 'once')),
  schedule_config json not null,
  input json not null,
  input_bytes integer not null,
  run_as_service_account text,
  -- principal that created or last changed it; empty for anonymous
  changed_by text not null,
  status text not null default 'active' check (status in ('active', 'paused')),
  -- intervals count from here
  anchor_at timestamptz not null,
  next_run_at timestamptz,
  -- one of its ticks has no outcome yet; no other tick is taken until it has
  pending boolean not null default false,
  last_run_at timestamptz,
  run_count bigint not null default 0,
  failure_count bigint not null default 0,
  tick_count bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index schedules_due on schedules (next_run_at)
  where status = 'active' and not pending and next_run_at is not null;
create index schedules_newest on schedules (created_at desc, id desc);
create index schedules_workflow on schedules (workflow_name, workflow_namespace);

-- One row for each firing, and one for each range of skipped ticks.
create table schedule_ticks (
  schedule_id uuid not null,
  nominal_at timestamptz not null,
  status text not null check (status in ('pending', 'started', 'failed', 'skipped')),
  -- skipped: all ticks from here to nominal_at
  skipped_from timestamptz,
  execution_id uuid unique,
  -- last known state of the execution
  state text,
  error text,
  attempts integer not null default 0,
  -- pending: time of the next attempt
  retry_at timestamptz,
  -- started and not finished: time of the next check of the execution
  check_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  primary key (schedule_id, nominal_at),
  check ((status = 'skipped') = (execution_id is null)),
  check ((status = 'skipped') = (skipped_from is not null))
);

create index schedule_ticks_retry on schedule_ticks (retry_at) where retry_at is not null;
create index schedule_ticks_check on schedule_ticks (check_at) where check_at is not null;

-- Schedules whose ticks are being deleted in batches.
create table deleted_schedules (schedule_id uuid primary key);

-- Version of each workflow that was reconciled last, and its declared schedule.
create table declarations (
  workflow_namespace text not null,
  workflow_name text not null,
  workflow_id uuid not null,
  schedule_config json,
  schedule_id uuid,
  primary key (workflow_namespace, workflow_name)
);
