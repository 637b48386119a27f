-- recorded as 0013_search_by_creator.sql
-- each statement commits
create index concurrently executions_by_creator on executions (created_by, created_at desc, execution_id desc)
  where finished_at is not null;
