-- Lines follow the log of their execution to partition 0. A trigger, because replicas of the previous release move
-- entries only. It runs for statements that set `log_part`: those that move a log.
create function move_captured_lines() returns trigger
language plpgsql set search_path = executions, pg_temp as $$
begin
  -- Partition 0 may have some of them: a request that a replica of an earlier release has answered was repeated.
  with moved as (
    delete from captured_lines
     where execution_id = old.execution_id and part = old.log_part
    returning *)
  insert into captured_lines
  select execution_id, seq, task_id, task_name, level, logger, message, time, line_count, byte_count
    from moved
  on conflict do nothing;
  return null;
end $$;
create trigger moved_lines after update of log_part on executions
  for each row when (old.log_part <> 0 and new.log_part = 0)
  execute function move_captured_lines();
