-- Registration with a bootstrap or worker token that a session token goes back to; renewals keep it.
alter table worker_sessions add column registered_at timestamptz not null default now();
