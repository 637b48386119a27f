-- recorded as 0011_restored.sql
-- Time at which it was restored from an archive: its age counts from then.
alter table executions add column restored_at timestamptz;
