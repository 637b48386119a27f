-- Execution that started this one by a nested run; null for an outermost one, and for rows from before.
alter table executions add column if not exists parent_id uuid;
-- True if a cancel of the parent cancels this execution too.
alter table executions add column cancel_with_parent boolean not null default false;
create index executions_children on executions (parent_id) where parent_id is not null;

-- Ends before this migration cancel nothing: the cursor starts behind them.
insert into relay_cursor (name, xid, execution_id, seq)
values ('children', pg_snapshot_xmin(pg_current_snapshot()), '00000000-0000-0000-0000-000000000000', 0)
on conflict do nothing;
