-- each statement commits
-- The same indexes in ascending order, which are read backwards for the newest: rows come in the order of
-- their times, and PostgreSQL fills the pages of an index only where it grows at its upper end. Each
-- descending one took nearly twice the space.
create index concurrently executions_by_creation on executions (created_at, execution_id);
drop index concurrently if exists executions_newest;

create index concurrently executions_of_workflow on executions
  (workflow_namespace, workflow_name, created_at, execution_id);
drop index concurrently if exists executions_by_workflow;

create index concurrently executions_unfinished on executions (created_at, execution_id)
  where finished_at is null;
drop index concurrently if exists executions_live;

create index concurrently executions_ended on executions (state, created_at, execution_id)
  where finished_at is not null;
drop index concurrently if exists executions_by_end;

create index concurrently executions_of_workflow_by_finish on executions
  (workflow_namespace, workflow_name, finished_at, execution_id)
  where finished_at is not null;
drop index concurrently if exists executions_by_finish;

create index concurrently executions_of_creator on executions (created_by, created_at, execution_id)
  where finished_at is not null;
drop index concurrently if exists executions_by_creator;

create index concurrently executions_of_worker on executions (worker_name, created_at, execution_id)
  where finished_at is not null;
drop index concurrently if exists executions_by_worker;

create index concurrently executions_of_one_schedule on executions
  (schedule_id, created_at, execution_id)
  where schedule_id is not null;
drop index concurrently if exists executions_of_schedule;

-- Only replicas from before 0018_priority read it; executions_ready_by_namespace begins with the same
-- column, so theirs work without.
drop index concurrently if exists executions_ready;

-- Known events are found by the primary key among the first entries of a log, and by this index in the
-- rest (store/log.ts). That no event is in a log twice follows from the revision of the row and the
-- primary key. Earlier replicas read the whole log instead until they are replaced.
create index concurrently events_of_long_logs on events (execution_id, event_id) where seq > 32;
drop index concurrently if exists events_once;
