-- recorded as 0016_vacuum.sql
-- Retention deletes as many rows as are written: vacuum frees their space early, in small steps. It does
-- not cut off the free end of a file, because that locks readers out; new rows fill it again.
alter table executions set (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.05, vacuum_truncate = false);
alter table events set (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
  vacuum_truncate = false);
-- Written and deleted all the time, with few rows at any moment.
alter table totals_delta set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);
alter table idempotency_keys set (
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);
alter table approvals set (autovacuum_vacuum_scale_factor = 0.05, vacuum_truncate = false);
alter table wake_conditions set (autovacuum_vacuum_scale_factor = 0.05, vacuum_truncate = false);
