alter table schedules
  -- where changed_by is known; empty for anonymous
  add column changed_by_issuer text not null default '',
  -- what a tick does while the execution of an earlier one runs
  add column overlap text not null default 'allow'
    check (overlap in ('allow', 'skip', 'queue', 'cancel_previous')),
  -- when its last tick was settled: ticks that were due before then had to wait for that one
  add column released_at timestamptz;

-- queued: waits for the executions of earlier ticks to end; of each schedule the first is looked at.
alter table schedule_ticks
  drop constraint schedule_ticks_status_check,
  add constraint schedule_ticks_status_check
    check (status in ('pending', 'queued', 'started', 'failed', 'skipped'));

create index schedule_ticks_open on schedule_ticks (schedule_id, nominal_at)
  where status in ('pending', 'queued') or (status = 'started' and completed_at is null);
