-- recorded as 0015_search_by_schedule.sql
-- each statement commits
create index concurrently executions_of_schedule on executions (schedule_id, created_at desc, execution_id desc)
  where schedule_id is not null;
