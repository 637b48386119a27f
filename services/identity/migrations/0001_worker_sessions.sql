create table worker_sessions (
  prefix text primary key check (prefix ~ '^ws_[0-9a-f]{16}$'),
  token_hash bytea not null check (octet_length(token_hash) = 32),
  worker_name text not null check (char_length(worker_name) between 1 and 128),
  session_id uuid not null,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);

create index worker_sessions_live on worker_sessions (worker_name, created_at) where ended_at is null;
create index worker_sessions_ended on worker_sessions (ended_at) where ended_at is not null;

-- Markers: a committed change requires a new cache generation. Any replica replaces it.
create table pending_epoch (
  position bigint generated always as identity primary key,
  name text not null check (name = 'auth'),
  created_at timestamptz not null default now()
);
