-- Whether the execution has asked for approvals: only then do its changes look at them.
alter table executions add column gated boolean not null default false;

-- Decisions that tasks wait for. They change only under the lock of their execution's row.
create table approvals (
  approval_id       uuid primary key,
  execution_id      uuid not null,
  task_call_id      text not null,
  task_name         text not null,
  status            text not null check (status in ('pending', 'approved', 'rejected', 'cancelled')),
  requested_at      timestamptz not null default clock_timestamp(),
  decided_at        timestamptz,
  approver_subject  text not null default '',
  approver_provider text not null default '',
  reason            text,
  scope             text not null default 'call' check (scope in ('call', 'execution')),
  constraint decided_is_dated check ((decided_at is null) = (status = 'pending')),
  unique (execution_id, task_call_id)
);
create index approvals_newest on approvals (status, requested_at desc, approval_id desc);
