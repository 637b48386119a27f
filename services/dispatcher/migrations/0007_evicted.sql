-- each statement commits
-- Lists of workers, which consoles read every two seconds, do not read names that left long ago. No pong changes this
-- column, so the index leaves the rewrites of pongs within their page.
create index concurrently workers_evicted on workers (evicted_at);
