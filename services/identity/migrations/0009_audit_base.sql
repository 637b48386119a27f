-- The last pruned entry: the chain of the remaining ones continues from its hash. Entries up to it may
-- be deleted, and it moves forward only, to entries that are old enough to have been exported.
create table audit_base (
  id boolean primary key default true check (id),
  seq bigint not null,
  hash bytea not null check (octet_length(hash) = 32)
);
insert into audit_base (seq, hash) values (0, decode(repeat('00', 32), 'hex'));

create function audit_min_age() returns interval language sql immutable as
  $$ select interval '7 days' $$;

create function check_audit_base() returns trigger language plpgsql as $$
begin
  if new.seq <= old.seq or not exists (
       select from audit_log
        where seq = new.seq and hash = new.hash and at < now() - audit_min_age()) then
    raise exception 'only entries of the audit log that are older than % can be pruned', audit_min_age();
  end if;
  return new;
end $$;

create trigger kept before delete or truncate on audit_base
  for each statement execute function refuse_change();
create trigger forward before update on audit_base
  for each row execute function check_audit_base();

create function refuse_unpruned_delete() returns trigger language plpgsql as $$
begin
  if old.seq > (select seq from audit_base) then
    raise exception 'the audit log is only appended to';
  end if;
  return old;
end $$;

drop trigger append_only on audit_log;
create trigger append_only before update or truncate on audit_log
  for each statement execute function refuse_change();
create trigger pruned_only before delete on audit_log
  for each row execute function refuse_unpruned_delete();
