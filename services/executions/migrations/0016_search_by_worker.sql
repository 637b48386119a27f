-- recorded as 0014_search_by_worker.sql
-- each statement commits
create index concurrently executions_by_worker on executions (worker_name, created_at desc, execution_id desc)
  where finished_at is not null;
