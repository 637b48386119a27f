-- Names with their sessions and connections. Few columns, since every pong rewrites a row; no index
-- covers a column that a pong changes, so the rewrites stay within their page (heap-only tuples).
create table workers (
  name                  text primary key,
  session_id            uuid not null,
  -- Random id of the worker's process; empty for workers that send none.
  instance              text not null,
  -- Grows at each connect, eviction and takeover of the name; a stream with a lower number is closed.
  connection_generation bigint not null default 0,
  connected             boolean not null default false,
  connected_at          timestamptz,
  -- The dispatcher process that holds the stream.
  replica_id            uuid,
  healthy               boolean not null default true,
  metrics               json not null default '{}',
  last_seen_at          timestamptz not null default now(),
  registered_at         timestamptz not null default now(),
  evicted_at            timestamptz,
  -- The work of this connection and earlier ones is still to be returned to the ready queue.
  release_generation    bigint,
  -- Last change of anything but pongs and metrics; other dispatchers poll for it.
  changed_at            timestamptz not null default now(),
  constraint name_is_plain check (name ~ '^[A-Za-z0-9._-]{1,128}$' and name not in ('.', '..')),
  constraint generation_from_zero check (connection_generation >= 0),
  constraint connected_to_someone check
    (not connected or (replica_id is not null and connected_at is not null and connection_generation > 0)),
  constraint evicted_is_gone check (evicted_at is null or not connected),
  constraint release_is_of_the_past check (release_generation between 1 and connection_generation - 1)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

create index workers_watched on workers (name) where evicted_at is null;
create index workers_owing on workers (name) where release_generation is not null;
create index workers_changed on workers (changed_at);

-- Properties that each worker registered.
create table records (
  name                      text primary key references workers on delete cascade,
  runtime                   json,
  packages                  json not null,
  resources                 json,
  labels                    json not null,
  runners                   json not null,
  -- 0: unlimited.
  max_concurrent_executions integer not null check (max_concurrent_executions >= 0)
);

-- Dispatcher processes. A stream counts as live only while its holder updates its row here.
create table replicas (
  replica_id uuid primary key,
  seen_at    timestamptz not null default now()
);

create table outbox (
  position bigint generated always as identity primary key,
  event_id uuid not null unique,
  subject  text not null,
  body     bytea not null
);
