-- Uploaded files, each once however many workflows and versions come from it.
create table sources (
  sha256 bytea primary key check (octet_length(sha256) = 32),
  bytes bytea not null
);

-- Every workflow that ever was. Its row hands out version numbers, none of them twice, and is the
-- lock under which its versions change.
create table names (
  namespace text collate "C" not null,
  name text collate "C" not null,
  last_version integer not null check (last_version > 0),
  primary key (namespace, name)
);

-- A version never changes. A deleted one is kept for the executions that run it.
create table versions (
  id uuid primary key,
  namespace text collate "C" not null,
  name text collate "C" not null,
  version integer not null check (version > 0),
  source_sha256 bytea not null references sources,
  imports json not null,
  metadata json not null,
  requests json not null,
  affinity json not null,
  requirement json not null,
  input_schema json,
  created_by text not null,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  unique (namespace, name, version),
  foreign key (namespace, name) references names
);

create index versions_live on versions (namespace, name, version desc) where deleted_at is null;

-- Changes that were committed and not yet made known to the caches.
create table pending_epochs (
  token uuid primary key,
  since timestamptz not null default now()
);

create table outbox (
  position bigint generated always as identity primary key,
  event_id uuid not null unique,
  subject text not null,
  body bytea not null
);
