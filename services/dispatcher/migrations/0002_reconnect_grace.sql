-- A worker may promise to reconnect within some seconds after its stream has closed. No pong changes
-- these columns, so the index leaves the rewrites of pongs within their page.
alter table workers
  -- Seconds; null: the worker promised nothing.
  add column reconnect_grace double precision check (reconnect_grace > 0),
  -- End of the newest stream that has ended.
  add column disconnected_at timestamptz,
  -- The worker closed the stream of this connection. A later connection has a higher generation.
  add column closed_generation bigint,
  -- Last sign of life after that.
  add column quiet_since timestamptz;

create index workers_closed on workers (name) where closed_generation is not null;
create index workers_disconnected on workers (disconnected_at);
