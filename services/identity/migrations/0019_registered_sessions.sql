-- each statement commits
-- Sessions beyond session_max_age are looked for every five seconds; others are not read for it.
create index concurrently worker_sessions_registered on worker_sessions (registered_at) where ended_at is null;
