-- Limit of each wait in the ready queue; the execution FAILS after it. Null: no limit.
alter table executions add column queue_timeout_ms double precision;
alter table executions add constraint deadline_where_wait_is_bounded
  check (deadline_at is not null or queued_at is null or queue_timeout_ms is null);
