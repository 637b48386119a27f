-- Lines that the code of workflows wrote with print and logging, as their workers sent them. Retention
-- deletes them with the log.
create table captured_lines (
  execution_id uuid not null,
  -- Claim generation, and number of the line in the claim: domain/line-limits.ts.
  seq          bigint not null,
  task_id      text not null,
  task_name    text not null,
  level        smallint not null,
  logger       text not null,
  message      text not null,
  time         text not null,
  -- Lines of the execution, and bytes of their messages, up to this one.
  line_count   integer not null,
  byte_count   bigint not null,
  primary key (execution_id, seq)
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_scale_factor = 0.05, vacuum_truncate = false);
