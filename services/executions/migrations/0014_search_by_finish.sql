-- recorded as 0012_search_by_finish.sql
-- each statement commits
create index concurrently executions_by_finish on executions
  (workflow_namespace, workflow_name, finished_at desc, execution_id desc)
  where finished_at is not null;
