-- Patterns of the namespaces and workflows that may use an entry; null: all of them. `version` and the
-- patterns are authenticated with the value. Values of an earlier release have version 0 and are bound
-- to their name alone.
alter table secrets
  add column namespaces text[],
  add column workflows text[],
  add column version integer not null default 0,
  add column previous_key_id text,
  add column previous_nonce bytea,
  add column previous_ciphertext bytea,
  add column previous_until timestamptz;

alter table configs
  add column namespaces text[],
  add column workflows text[];

-- The newest version of each secret, deleted ones too. It only grows, so a row of secrets cannot be
-- replaced by an earlier one.
create table secret_versions (
  name text primary key,
  version integer not null check (version > 0)
);

create function refuse_earlier_version() returns trigger language plpgsql as $$
begin
  raise exception 'versions of secrets only grow';
end $$;

create trigger kept before delete or truncate on secret_versions
  for each statement execute function refuse_earlier_version();
create trigger forward before update on secret_versions
  for each row when (new.version <= old.version or new.name <> old.name)
  execute function refuse_earlier_version();

-- [svc.security].secrets where it is unset: as before for an installation that was in use.
alter table installation
  add column secrets_policy text not null default 'scoped'
  check (secrets_policy in ('declared', 'scoped'));
update installation set secrets_policy = 'declared'
 where exists (select from secrets) or exists (select from configs)
    or exists (select from worker_sessions) or exists (select from audit_log);
