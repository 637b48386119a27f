-- recorded as 0016_priority.sql
-- Levels 0 to 9; 5 is that of executions that name none, also of those that earlier replicas create.
alter table executions alter column priority set default 5;
update executions set priority = 5 where finished_at is null and priority = 0;

-- The ready queue by namespace. One level is worth ten seconds of waiting, so an execution that waits
-- rises one level every ten seconds, and the order of two executions never changes: a static key is
-- enough. `at time zone` makes the expression immutable. Earlier replicas read `executions_ready`; a later
-- release drops it.
create index executions_ready_by_namespace on executions (
  requirement_id, workflow_namespace,
  ((queued_at at time zone 'UTC') - priority * interval '10 seconds'), execution_id)
  where queued_at is not null;
