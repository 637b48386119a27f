-- A parked execution waits without a worker: for `deadline_at`, or for the end of another execution. It is
-- neither queued nor held. A leftover `true` in other states (written by an earlier release) means nothing.
alter table executions add column parked boolean not null default false;
alter table executions drop constraint queued_is_unheld;
alter table executions add constraint queued_is_unheld check ((queued_at is not null) =
  (state in ('SCHEDULED', 'RESUMING') and held_by is null and not parked));

-- The end of `wakes_on` wakes the execution, if it is still parked under this claim generation.
create table wake_conditions (
  wakes_on         uuid not null,
  execution_id     uuid not null,
  claim_generation bigint not null,
  primary key (wakes_on, execution_id)
);
create index wake_conditions_of_execution on wake_conditions (execution_id);

-- Ends before this migration wake nothing: the cursor starts behind them.
insert into relay_cursor (name, xid, execution_id, seq)
values ('wake', pg_snapshot_xmin(pg_current_snapshot()), '00000000-0000-0000-0000-000000000000', 0)
on conflict do nothing;
