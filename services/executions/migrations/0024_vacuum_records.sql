-- Retention deletes their rows with the executions: as in 0019_vacuum.
alter table execution_tags set (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.05, vacuum_truncate = false);
alter table deleted_executions set (
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);
