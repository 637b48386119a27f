-- Captured lines in partitions with the numbers of those of the log (0029_partitioned_log): the lines of an
-- execution are in `executions.log_part`, and in partition 0 as far as replicas of earlier releases have
-- written them.
alter table captured_lines rename to captured_lines_0;
create table captured_lines (like captured_lines_0 including defaults) partition by list (part);
alter table captured_lines attach partition captured_lines_0 for values in (0);
alter table captured_lines_0 drop constraint lines_are_in_part_0;

-- Roles that use the one use the other, also until the migrations have ended.
do $$
declare one record;
begin
  for one in
    select pg_get_userbyid(a.grantee) as role, a.privilege_type as privilege
      from pg_class c cross join aclexplode(c.relacl) a
     where c.oid = 'captured_lines_0'::regclass and a.grantee <> 0 and a.grantee <> c.relowner
  loop
    execute format('grant %s on captured_lines to %I', one.privilege, one.role);
  end loop;
end $$;

create function create_line_partition(created integer) returns void
language plpgsql set search_path = executions, pg_temp as $$
begin
  execute format(
    'create table captured_lines_%s (like captured_lines_0 including defaults including indexes) with (
       autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20000,
       autovacuum_vacuum_insert_scale_factor = 0.05, vacuum_truncate = false)', created);
  execute format(
    'alter table captured_lines attach partition captured_lines_%s for values in (%s)', created, created);
end $$;

-- A partition of the lines exists as long as the row of log_partitions. Triggers, and not changes of the functions
-- that create and drop partitions: a call of them that began before this migration ends with its own text.
create function follow_log_partition() returns trigger
language plpgsql set search_path = executions, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    perform create_line_partition(new.part);
  else
    -- No execution has its log there, and each insert of lines has locked its execution: store/line-rows.ts.
    execute format('drop table captured_lines_%s', old.part);
  end if;
  return null;
end $$;
create trigger line_partitions after insert or delete on log_partitions
  for each row execute function follow_log_partition();

-- The trigger is there from now on, and calls that have inserted a row before have committed.
do $$ begin
  perform create_line_partition(part) from log_partitions;
end $$;
