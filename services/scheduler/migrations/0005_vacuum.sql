-- Retention deletes as many ticks as are written: vacuum frees their space early, and does not cut off the
-- free end of the file, because that locks readers out.
alter table schedule_ticks set (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.05, vacuum_truncate = false);
