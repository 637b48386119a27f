alter table schedules
  -- issuer of changed_by; empty for anonymous
  add column changed_by_issuer text not null default '',
  -- behaviour of a tick while the execution of an earlier one runs
  add column overlap text not null default 'allow'
    check (overlap in ('allow', 'skip', 'queue', 'cancel_previous')),
  -- time at which its last tick was settled: ticks due before then had to wait for it
  add column released_at timestamptz;

-- queued: waits for the executions of earlier ticks; only the first of each schedule is checked.
alter table schedule_ticks
  drop constraint schedule_ticks_status_check,
  add constraint schedule_ticks_status_check
    check (status in ('pending', 'queued', 'started', 'failed', 'skipped'));

create index schedule_ticks_open on schedule_ticks (schedule_id, nominal_at)
  where status in ('pending', 'queued') or (status = 'started' and completed_at is null);
