-- The log in partitions, so that expired logs are dropped with their partition. The table that was the log
-- becomes partition 0, which is never dropped; replicas of earlier releases write to it only. There is no
-- default partition: it would be locked, and read, whenever another one is attached.
alter table events rename to events_0;
create table events (like events_0 including defaults) partition by list (part);
alter table events attach partition events_0 for values in (0);
alter table events_0 drop constraint events_are_in_part_0;

-- Roles that use the one use the other, also until the migrations have ended.
do $$
declare one record;
begin
  for one in
    select pg_get_userbyid(a.grantee) as role, a.privilege_type as privilege
      from pg_class c cross join aclexplode(c.relacl) a
     where c.oid = 'events_0'::regclass and a.grantee <> 0 and a.grantee <> c.relowner
  loop
    execute format('grant %s on events to %I', one.privilege, one.role);
  end loop;
end $$;

-- Partitions after the first, in the order of their times. One is used from `starts_at` on, until the next one is.
create table log_partitions (
  part      integer primary key,
  starts_at timestamptz not null
);

-- Creates the partition after the last one, unless that is there already. It is used once the last one has
-- been for `length`, and not before all replicas have read it. The service may not change tables, so these
-- functions run as the role of the migrations.
create function create_log_partition(length interval, notice interval) returns void
language plpgsql security definer set search_path = executions, pg_temp set lock_timeout = '100ms' as $$
declare
  newest  log_partitions;
  created integer;
begin
  perform pg_advisory_xact_lock(hashtext('executions.log_partitions'));
  select * into newest from log_partitions order by part desc limit 1;
  if newest.starts_at > clock_timestamp() then
    return;
  end if;
  created = coalesce(newest.part, 0) + 1;
  execute format(
    'create table events_%s (like events_0 including defaults including indexes) with (
       autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20000,
       autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
       vacuum_truncate = false)', created);
  execute format('alter table events attach partition events_%s for values in (%s)', created, created);
  insert into log_partitions
  values (created, greatest(newest.starts_at + length, clock_timestamp() + notice));
end $$;

-- Drops a partition that has not been used for ten minutes, unless an execution has its log there, and returns
-- true if it has. Statements that use the log wait for it, and it waits 100 ms for them.
create function drop_log_partition(dropped integer) returns boolean
language plpgsql security definer set search_path = executions, pg_temp set lock_timeout = '100ms' as $$
declare
  begun timestamptz;
  ended timestamptz;
begin
  select starts_at into begun from log_partitions where part = dropped;
  select min(starts_at) into ended from log_partitions where part > dropped;
  if begun is null or ended is null or ended > clock_timestamp() - interval '10 minutes' then
    return false;
  end if;
  -- Nothing is being written after that.
  lock table only events in access exclusive mode;
  execute format('lock table events_%s in access exclusive mode', dropped);
  -- A replica may have used it for a moment longer: store/partition-rows.ts.
  if exists (select from executions
              where created_at >= begun - interval '2 minutes'
                and created_at < ended + interval '2 minutes' and log_part = dropped) then
    return false;
  end if;
  execute format('drop table events_%s', dropped);
  delete from log_partitions where part = dropped;
  return true;
end $$;
