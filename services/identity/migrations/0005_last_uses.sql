alter table worker_sessions add column last_used_at timestamptz not null default now();

create index worker_sessions_idle on worker_sessions (last_used_at) where ended_at is null;
