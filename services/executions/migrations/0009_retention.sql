-- Execution that started it by a nested run; null for outermost ones, and for rows from before.
alter table executions add column if not exists parent_id uuid;
-- True once the log was deleted before the row: only its last event is left.
alter table executions add column log_deleted boolean not null default false;

-- Executions that retention deleted, as long as something refers to them: an idempotency key, or log
-- entries that are still to be deleted.
create table deleted_executions (
  execution_id uuid primary key,
  -- A repeated request under an idempotency key is refused until then.
  refused_until timestamptz not null,
  has_log       boolean not null
);
create index deleted_executions_by_end on deleted_executions (refused_until);
create index deleted_executions_with_log on deleted_executions (execution_id) where has_log;
